import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '@sluice/platform';
import type { AccessReviewer, Review } from '../ports.ts';

/** `unanswered`: the API server does not answer, and no earlier decision is known. */
export type Decision = Review | 'unanswered';

/** How long a decision is used, in milliseconds. */
const ttlMs = 60_000;
/** Beyond it, the oldest decisions are forgotten. */
const maxDecisions = 50_000;
/** How long an API server that did not answer gets no further reviews of a token: requests about other clusters wait for it. */
const retryMs = 5_000;

/** A token while a request or stream is in progress. */
export interface Token {
  readonly value: string;
  /** Identifies it in the cache, from which it cannot be recovered. */
  readonly hash: string;
}

/** What readers may read, as API servers have decided it. */
export class AccessDecisions {
  readonly #reviewer: AccessReviewer;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #salt = randomBytes(32);
  /** By token, cluster and namespace, oldest first. */
  readonly #decisions = new Map<string, { readonly decision: Promise<Decision>; readonly expiresAt: number }>();

  constructor(reviewer: AccessReviewer, clock: Pick<Clock, 'monotonic'>) {
    this.#reviewer = reviewer;
    this.#clock = clock;
  }

  /** Identities of the clusters that can be asked. */
  get clusters(): readonly string[] {
    return this.#reviewer.clusters();
  }

  tokenOf(value: string): Token {
    return { value, hash: createHmac('sha256', this.#salt).update(value).digest('base64') };
  }

  /** Whether all namespaces of the cluster may be read. */
  ofCluster(token: Token, cluster: string): Promise<Decision> {
    return this.#decide(token, cluster, undefined);
  }

  /** Whether the namespace may be read, also because all may be. */
  async ofNamespace(token: Token, cluster: string, namespace: string): Promise<Decision> {
    if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(namespace)) return 'denied';
    const known = this.#known(nameOf(token, cluster, namespace));
    if (known !== undefined) return known;
    const ofCluster = await this.ofCluster(token, cluster);
    return ofCluster === 'denied' ? this.#decide(token, cluster, namespace) : ofCluster;
  }

  #known(name: string): Promise<Decision> | undefined {
    const known = this.#decisions.get(name);
    return known !== undefined && known.expiresAt > this.#clock.monotonic() ? known.decision : undefined;
  }

  #decide(token: Token, cluster: string, namespace: string | undefined): Promise<Decision> {
    const name = nameOf(token, cluster, namespace);
    const known = this.#known(name);
    if (known !== undefined) return known;
    const silence = nameOf(token, cluster, silent);
    const isSilent = this.#known(silence);
    if (isSilent !== undefined) return isSilent;
    const decision: Promise<Decision> = this.#reviewer.review(cluster, token.value, namespace).catch((): Decision => {
      if (this.#decisions.get(name)?.decision === decision) this.#decisions.delete(name);
      this.#keep(silence, Promise.resolve('unanswered'), retryMs);
      return 'unanswered';
    });
    this.#keep(name, decision, ttlMs);
    return decision;
  }

  #keep(name: string, decision: Promise<Decision>, forMs: number): void {
    this.#decisions.delete(name);
    this.#decisions.set(name, { decision, expiresAt: this.#clock.monotonic() + forMs });
    for (const oldest of this.#decisions.keys()) {
      if (this.#decisions.size <= maxDecisions) break;
      this.#decisions.delete(oldest);
    }
  }
}

/** In place of a namespace. */
const silent = '(silent)';

/** Identities of clusters and names of namespaces contain no spaces. */
const nameOf = ({ hash }: Token, cluster: string, namespace = ''): string => `${hash} ${cluster} ${namespace}`;
