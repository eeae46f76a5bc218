import type { Bus, BusRecord } from '@sluice/bus';

interface Lane {
  readonly pending: BusRecord[];
  running: boolean;
}

/** Appends to `changes` as the services do: one call at a time per partition, each with everything that is waiting. */
export class AppendLanes {
  readonly #bus: Bus;
  readonly #lanes: readonly Lane[];
  #failure: unknown;

  constructor(bus: Bus) {
    this.#bus = bus;
    this.#lanes = Array.from({ length: bus.partitions }, () => ({ pending: [], running: false }));
  }

  append(partition: number, record: BusRecord): void {
    const lane = this.#lanes[partition];
    if (lane === undefined) throw new RangeError(`there is no partition ${partition}`);
    lane.pending.push(record);
    if (lane.running) return;
    lane.running = true;
    queueMicrotask(() => void this.#run(partition, lane).catch((error: unknown) => this.#fail(error)));
  }

  get idle(): boolean {
    return this.#lanes.every(({ running }) => !running);
  }

  /** @throws the error of a failed append */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #run(partition: number, lane: Lane): Promise<void> {
    while (lane.pending.length > 0) await this.#bus.append('changes', partition, lane.pending.splice(0));
    lane.running = false;
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
  }
}
