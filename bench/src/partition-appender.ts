import type { Bus, BusRecord } from '@sluice/bus';

interface PartitionQueue {
  readonly pending: BusRecord[];
  running: boolean;
}

/** Appends to `changes` as the services do: one call at a time per partition, each with everything that is waiting. */
export class PartitionAppender {
  readonly #bus: Bus;
  readonly #queues: readonly PartitionQueue[];
  #failure: unknown;

  constructor(bus: Bus) {
    this.#bus = bus;
    this.#queues = Array.from({ length: bus.partitions }, () => ({ pending: [], running: false }));
  }

  append(partition: number, record: BusRecord): void {
    const queue = this.#queues[partition];
    if (queue === undefined) throw new RangeError(`unknown partition ${partition}`);
    queue.pending.push(record);
    if (queue.running) return;
    queue.running = true;
    queueMicrotask(() => void this.#run(partition, queue).catch((error: unknown) => this.#fail(error)));
  }

  get idle(): boolean {
    return this.#queues.every(({ running }) => !running);
  }

  /** @throws the error of a failed append */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #run(partition: number, queue: PartitionQueue): Promise<void> {
    while (queue.pending.length > 0) await this.#bus.append('changes', partition, queue.pending.splice(0));
    queue.running = false;
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
  }
}
