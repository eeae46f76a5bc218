import { chainReader, IdentityGuard } from '@sluice/kubernetes';
import type { Clock } from '@sluice/platform';
import type { ClusterPins } from '@sluice/store';
import type { ConnectedCluster } from '../clusters/cluster.ts';
import {
  accept,
  admit,
  type ClusterEvidence,
  type IdentityConflict,
  type PinnedClusters,
  parsePinnedClusters,
  release,
} from './pinned-clusters.ts';

type PinsChange = (clusters: PinnedClusters) => PinnedClusters;

/** A change that is not stored yet. */
interface PendingChange {
  readonly change: PinsChange;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The identities that a fleet's store pins. They decide for every process whether the cluster behind a name may be served
 * (ADR 0053). Every method rejects if the store cannot be reached.
 */
export class StoredIdentities {
  readonly #pins: ClusterPins;
  #pending: PendingChange[] = [];
  #isUpdating = false;

  constructor(pins: ClusterPins) {
    this.#pins = pins;
  }

  /** Pins the cluster at its first contact. Returns why it must not be served; undefined if it may. */
  async admit(name: string, evidence: ClusterEvidence): Promise<string | undefined> {
    let refusal: string | undefined;
    await this.#update((clusters) => {
      const admission = admit(clusters, name, evidence);
      refusal = admission.refusal;
      return admission.clusters;
    });
    return refusal;
  }

  /**
   * Like `admit`, for all clusters that a process serves, by name. Returns why some of them must not be served anymore.
   * However many there are, it reads the pins once.
   */
  async verify(served: ReadonlyMap<string, ClusterEvidence>): Promise<ReadonlyMap<string, string>> {
    let refusals: ReadonlyMap<string, string> = new Map();
    await this.#update((clusters) => {
      const verified = verifyAll(clusters, served);
      refusals = verified.refusals;
      return verified.clusters;
    });
    return refusals;
  }

  /** Unpins a name that is no longer configured. */
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

  /**
   * Changes that arrive while others are being stored are stored together. Otherwise a process that starts with a thousand
   * clusters reads and replaces the pins of all for each of them, and again whenever another one was faster.
   */
  #update(change: PinsChange): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#pending.push({ change, resolve, reject });
    if (!this.#isUpdating) void this.#updateAll();
    return promise;
  }

  async #updateAll(): Promise<void> {
    this.#isUpdating = true;
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      try {
        await this.#store(batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isUpdating = false;
  }

  async #store(batch: readonly PendingChange[]): Promise<void> {
    for (;;) {
      const stored = await this.#pins.read();
      const clusters = parsePinnedClusters(stored);
      const next = batch.reduce((changed, { change }) => change(changed), clusters);
      if (next === clusters) return;
      if (await this.#pins.replace(stored, JSON.stringify(next))) return;
    }
  }
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

/** Reads, and permits writes, only while the same cluster answers at its address. `onReplaced` is called with the identity of another. */
export function guardIdentity(
  cluster: ConnectedCluster,
  { clock, onReplaced }: { readonly clock: Clock; readonly onReplaced: (identity: string) => void },
): ConnectedCluster {
  const { identity, reader, checks } = cluster;
  const guard = new IdentityGuard({ identity, cluster: reader, clock, onReplaced });
  return { ...cluster, reader: chainReader(reader, guard.middleware), checks: { ...checks, identity: guard } };
}
