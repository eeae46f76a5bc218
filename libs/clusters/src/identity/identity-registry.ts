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
  /** Like `admit`, for a cluster that is being served. */
  verify(name: string, evidence: ClusterEvidence): Promise<string | undefined>;
  /** Unpins a name that is not configured anymore. */
  release(name: string): Promise<void>;
}

/** The identities that a fleet's store pins. Every method rejects if the store cannot be reached. */
export class StoredIdentities implements IdentityRegistry {
  readonly #pins: ClusterPins;

  constructor(pins: ClusterPins) {
    this.#pins = pins;
  }

  admit(name: string, evidence: ClusterEvidence): Promise<string | undefined> {
    return this.#admit(name, evidence, true);
  }

  verify(name: string, evidence: ClusterEvidence): Promise<string | undefined> {
    return this.#admit(name, evidence, false);
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

  async #admit(name: string, evidence: ClusterEvidence, refresh: boolean): Promise<string | undefined> {
    let refusal: string | undefined;
    await this.#update((clusters) => {
      const admission = admit(clusters, name, evidence, { refresh });
      refusal = admission.refusal;
      return admission.clusters;
    });
    return refusal;
  }

  async #update(change: (clusters: PinnedClusters) => PinnedClusters): Promise<void> {
    for (;;) {
      const stored = await this.#pins.read();
      const next = JSON.stringify(change(parsePinnedClusters(stored)));
      if (next === (stored ?? JSON.stringify(parsePinnedClusters(null)))) return;
      if (await this.#pins.replace(stored, next)) return;
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

  verify(name: string, evidence: ClusterEvidence): Promise<string | undefined> {
    return this.admit(name, evidence);
  }

  async release(): Promise<void> {}
}
