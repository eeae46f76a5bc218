import type { ClusterPins } from '@sluice/store';
import {
  accept,
  admit,
  type ClusterEvidence,
  type IdentityConflict,
  type PinnedClusters,
  parsePinnedClusters,
  release,
} from './pinned-clusters.ts';

/** Decides for every process of a fleet whether the cluster behind a name may be served (ADR 0053). */
export interface IdentityRegistry {
  /** Pins the cluster at its first contact. Returns why it must not be served; undefined if it may. */
  admit(name: string, evidence: ClusterEvidence): Promise<string | undefined>;
  /**
   * Like `admit`, for all clusters that a process serves, by name. Returns why some of them must not be served anymore.
   * However many there are, it reads the pins once.
   */
  verify(served: ReadonlyMap<string, ClusterEvidence>): Promise<ReadonlyMap<string, string>>;
  /** Unpins a name that is not configured anymore. */
  release(name: string): Promise<void>;
}

/** The identities that a fleet's store pins. Every method rejects if the store cannot be reached. */
export class StoredIdentities implements IdentityRegistry {
  readonly #pins: ClusterPins;

  constructor(pins: ClusterPins) {
    this.#pins = pins;
  }

  async admit(name: string, evidence: ClusterEvidence): Promise<string | undefined> {
    let refusal: string | undefined;
    await this.#update((clusters) => {
      const admission = admit(clusters, name, evidence);
      refusal = admission.refusal;
      return admission.clusters;
    });
    return refusal;
  }

  async verify(served: ReadonlyMap<string, ClusterEvidence>): Promise<ReadonlyMap<string, string>> {
    let refusals: ReadonlyMap<string, string> = new Map();
    await this.#update((clusters) => {
      const verified = verifyAll(clusters, served);
      refusals = verified.refusals;
      return verified.clusters;
    });
    return refusals;
  }

  async release(name: string): Promise<void> {
    await this.#update((clusters) => release(clusters, name));
  }

  /** Pins the name to this evidence. An operator has decided. */
  async accept(name: string, evidence: ClusterEvidence): Promise<void> {
    await this.#update((clusters) => accept(clusters, name, evidence));
  }

  /** Undecided conflicts: the clusters concerned are not served. */
  async conflicts(): Promise<readonly IdentityConflict[]> {
    return parsePinnedClusters(await this.#pins.read()).conflicts.filter(({ decided }) => !decided);
  }

  async #update(change: (clusters: PinnedClusters) => PinnedClusters): Promise<void> {
    for (;;) {
      const stored = await this.#pins.read();
      const clusters = parsePinnedClusters(stored);
      const next = change(clusters);
      if (next === clusters) return;
      if (await this.#pins.replace(stored, JSON.stringify(next))) return;
    }
  }
}

/** Compares with the pinned identities and changes nothing; for commands that only report. */
export class ReadOnlyIdentities implements IdentityRegistry {
  readonly #pins: Pick<ClusterPins, 'read'>;

  constructor(pins: Pick<ClusterPins, 'read'>) {
    this.#pins = pins;
  }

  async admit(name: string, evidence: ClusterEvidence): Promise<string | undefined> {
    return admit(parsePinnedClusters(await this.#pins.read()), name, evidence).refusal;
  }

  async verify(served: ReadonlyMap<string, ClusterEvidence>): Promise<ReadonlyMap<string, string>> {
    return verifyAll(parsePinnedClusters(await this.#pins.read()), served).refusals;
  }

  async release(): Promise<void> {}
}

function verifyAll(clusters: PinnedClusters, served: ReadonlyMap<string, ClusterEvidence>) {
  const refusals = new Map<string, string>();
  let verified = clusters;
  for (const [name, evidence] of served) {
    const admission = admit(verified, name, evidence, { refresh: false });
    verified = admission.clusters;
    if (admission.refusal !== undefined) refusals.set(name, admission.refusal);
  }
  return { clusters: verified, refusals };
}
