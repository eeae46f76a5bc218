import type { RecordedPeriod } from './queries.ts';

/** How long a watcher needs at most to publish all Services of a cluster after it has published the first, in milliseconds. */
export const firstListMs = 60_000;

/**
 * Which Services exist, learned from the files of a recording one after the other. A Service that was deleted while nothing was
 * recorded is not published again after the gap.
 */
export class ExistingServices {
  readonly #services = new Set<string>();
  /** Of those since the last gap: when a Service of a cluster was first published, by the cluster's identity. */
  readonly #clusters = new Map<string, number>();
  readonly #published = new Set<string>();
  #recordedUntil = Number.NEGATIVE_INFINITY;

  /** `firstSnapshots`: when each Service of the file was first published whole, by formatted key. */
  addFile(period: RecordedPeriod, firstSnapshots: ReadonlyMap<string, number>): void {
    if (period.from > this.#recordedUntil) {
      this.#published.clear();
      this.#clusters.clear();
    }
    this.#recordedUntil = period.to;
    for (const [key, at] of firstSnapshots) {
      this.#services.add(key);
      this.#published.add(key);
      const cluster = clusterOf(key);
      this.#clusters.set(cluster, Math.min(this.#clusters.get(cluster) ?? at, at));
    }
  }

  /** Formatted keys of the Services at a time that the last file covers. */
  at(time: number): readonly string[] {
    return [...this.#services].filter((key) => this.has(key, time)).sort();
  }

  has(key: string, time: number): boolean {
    return this.#published.has(key) || (this.#services.has(key) && !this.#isListed(clusterOf(key), time));
  }

  #isListed(cluster: string, time: number): boolean {
    const since = this.#clusters.get(cluster);
    return since !== undefined && time - since > firstListMs;
  }
}

const clusterOf = (key: string): string => key.slice(0, key.indexOf('/'));
