import { parseServiceKey, partitionOf, type ServiceKey } from '@sluice/messages';

/**
 * Services that a Change was published for, by formatted key. The first Change of a Service must be a snapshot, because
 * the reconciler decides nothing for a Service before it has one.
 */
export class PublishedServices implements Iterable<ServiceKey> {
  readonly #published = new Set<string>();
  /** Services whose last Change left nothing of them: the next one starts with a snapshot again. */
  readonly #emptied = new Set<string>();

  /** Adds a Service and returns whether its next Change must be a snapshot. */
  add(service: string): boolean {
    const needsSnapshot = !this.#published.has(service) || this.#emptied.delete(service);
    this.#published.add(service);
    return needsSnapshot;
  }

  /** Adds a Service whose current state another watcher has published. */
  restore(service: string): void {
    this.#published.add(service);
  }

  markEmptied(service: string): void {
    if (this.#published.has(service)) this.#emptied.add(service);
  }

  delete(service: string): void {
    this.#published.delete(service);
    this.#emptied.delete(service);
  }

  *[Symbol.iterator](): Iterator<ServiceKey> {
    for (const service of [...this.#published]) yield parseServiceKey(service);
  }

  /** One slice of the Services per round, so that `rounds` rounds cover all; at least one Service of each partition. */
  inRound(round: number, rounds: number, partitions: number): readonly ServiceKey[] {
    const byPartition = Map.groupBy(this.#published, (service) => partitionOf(service, partitions));
    return [...byPartition.values()].flatMap((services) => {
      const chosen = services.filter((_, i) => i % rounds === round % rounds);
      return (chosen.length > 0 ? chosen : services.slice(round % services.length).slice(0, 1)).map(parseServiceKey);
    });
  }
}
