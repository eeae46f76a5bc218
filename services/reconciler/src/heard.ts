import { type Change, compareStamps } from '@sluice/messages';
import type { StoredEntry } from '@sluice/store';

interface Last {
  readonly epoch: number;
  readonly sequence: number;
}

const field = 'heard';

/**
 * The last Change of each cluster's watcher in a partition. Each Change names the one before it, so that a gap shows even
 * if the log lost records that nobody had read, and looks whole.
 */
export class Heard {
  /** null: the next one may be any. */
  readonly #last = new Map<string, Last | null>();
  readonly #changed = new Set<string>();

  /** True if Changes before this one are missing. */
  hear({ key: { cluster }, stamp, previousSequence, previousEpoch, snapshot }: Change): boolean {
    if (previousSequence === undefined) return false;
    const last = this.#last.get(cluster);
    if (last && (stamp.epoch < last.epoch || (stamp.epoch === last.epoch && stamp.sequence <= last.sequence)))
      return false;
    this.#last.set(cluster, { epoch: stamp.epoch, sequence: stamp.sequence });
    this.#changed.add(cluster);
    if (last === null) return false;
    // What is first heard of a cluster is a snapshot, or those before it were lost, and perhaps the request for it too.
    if (last === undefined) return previousSequence > 0 && snapshot === undefined;
    if (previousSequence === 0) return false;
    return compareStamps({ epoch: previousEpoch ?? stamp.epoch, sequence: previousSequence }, last) > 0;
  }

  /** True if the Change, or a newer one of its cluster, was here before. */
  knows({ key: { cluster }, stamp }: Change): boolean {
    const last = this.#last.get(cluster);
    return last != null && compareStamps(stamp, last) <= 0;
  }

  /** After this a gap is none: something came that cannot be told. */
  forget(): void {
    for (const cluster of this.#last.keys()) {
      this.#changed.add(cluster);
      this.#last.set(cluster, null);
    }
  }

  /** True if a watcher of a later epoch was heard of the cluster. */
  hasHeardAfter(cluster: string, epoch: number): boolean {
    const last = this.#last.get(cluster);
    return last != null && last.epoch > epoch;
  }

  /** Nothing more is expected of the cluster. */
  drop(cluster: string): void {
    if (this.#last.delete(cluster)) this.#changed.add(cluster);
  }

  /** True if the entry is of this kind; it is taken as it was stored then. */
  load({ key, field: name, value }: StoredEntry): boolean {
    if (name !== field) return false;
    this.#last.set(key, value as Last | null);
    return true;
  }

  takeChanges(): StoredEntry[] {
    const entries = [...this.#changed].map((key) => ({ key, field, value: this.#last.get(key) }));
    this.#changed.clear();
    return entries;
  }
}
