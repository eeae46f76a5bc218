import { type Change, compareStamps, isStamp, type Stamp } from '@sluice/messages';
import type { StoredEntry } from '@sluice/store';

const field = 'lastChange';

/**
 * Detects lost Changes in a partition. Each Change names the one before it from the same cluster, so that a gap shows even
 * if the log lost records unread and looks complete.
 */
export class GapDetector {
  /** Stamp of the last Change by cluster; null: the next one may be any. */
  readonly #last = new Map<string, Stamp | null>();
  readonly #changed = new Set<string>();
  /** Clusters that were removed, and of which nothing has been published since. */
  readonly #removed = new Set<string>();
  /** Clusters with a gap for which no resync has been requested yet. */
  readonly #open = new Set<string>();

  /** Records a Change. Returns the sequences that are missing before it, for people: `1204..1210`; undefined: none. */
  observe(change: Change): string | undefined {
    const { stamp, previousSequence, previousEpoch } = change;
    const { cluster } = change.key;
    if (previousSequence === undefined) return undefined;
    const last = this.#last.get(cluster);
    if (last && compareStamps(stamp, last) <= 0) return undefined;
    this.#last.set(cluster, { epoch: stamp.epoch, sequence: stamp.sequence });
    this.#changed.add(cluster);
    const wasRemoved = this.#removed.delete(cluster);
    if (previousSequence === 0) return undefined;
    if (wasRemoved) return `1..${previousSequence}`;
    if (last === null) return undefined;
    // A cluster begins with a snapshot; otherwise that is lost, and perhaps the request for it too.
    if (last === undefined) return isBeginning(change) ? undefined : `1..${previousSequence}`;
    const previous: Stamp = { epoch: previousEpoch ?? stamp.epoch, sequence: previousSequence };
    if (compareStamps(previous, last) <= 0) return undefined;
    const first = previous.epoch === last.epoch ? last.sequence + 1 : 1;
    return `${first}..${previousSequence}`;
  }

  /** Whether the Change, or a newer one of its cluster, was observed before. */
  hasSeen({ key: { cluster }, stamp }: Change): boolean {
    const last = this.#last.get(cluster);
    return last != null && compareStamps(stamp, last) <= 0;
  }

  /** Accepts any next Change of the cluster: one of its records is unreadable, and it is unknown which Change it was. */
  skip(cluster: string): void {
    if (!this.#last.has(cluster)) return;
    this.#changed.add(cluster);
    this.#removed.delete(cluster);
    this.#last.set(cluster, null);
  }

  /**
   * Stores nothing of the cluster until `close`, so that the next owner detects the gap again if this one stops before it
   * has requested a resync.
   */
  open(cluster: string): void {
    this.#open.add(cluster);
  }

  close(cluster: string): void {
    this.#open.delete(cluster);
  }

  /** Whether a watcher with a later epoch has published for the cluster. */
  hasSeenEpochAfter(cluster: string, epoch: number): boolean {
    const last = this.#last.get(cluster);
    return last != null && last.epoch > epoch;
  }

  /**
   * Removes a cluster from what is stored. Should it be published again, its first Change names none before it; if the next Change
   * does, that one was lost, or a watcher has not noticed the removal.
   */
  removeCluster(cluster: string): void {
    this.#open.delete(cluster);
    if (!this.#last.has(cluster)) return;
    this.#removed.add(cluster);
    this.#changed.add(cluster);
  }

  /** Removes everything that was loaded. */
  clear(): void {
    this.#last.clear();
    this.#changed.clear();
    this.#removed.clear();
  }

  /** Loads a stored entry; false if it is not one of the gap detector's. Throws TypeError if its value is invalid. */
  load({ key, field: name, value }: StoredEntry): boolean {
    if (name !== field) return false;
    if (value !== null && !isStamp(value)) throw new TypeError(`stored field ${field} of ${key} is invalid`);
    this.#last.set(key, value);
    return true;
  }

  /** Returns and clears the changed entries, to be committed. */
  drainChanges(): StoredEntry[] {
    const clusters = [...this.#changed].filter((cluster) => !this.#open.has(cluster));
    for (const cluster of clusters) this.#changed.delete(cluster);
    return clusters.map((key) => ({ key, field, value: this.#removed.has(key) ? undefined : this.#last.get(key) }));
  }
}

/** Whether a watcher's first Change can look like this: a snapshot, or what stands for one that cannot be published. */
const isBeginning = ({ snapshot, unpublishable }: Pick<Change, 'snapshot' | 'unpublishable'>) =>
  snapshot !== undefined || unpublishable !== undefined;
