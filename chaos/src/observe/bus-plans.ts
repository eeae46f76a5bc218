import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, isLogTruncatedError, type PartitionReader, type StreamOffset } from '@sluice/bus';
import { type OnPlan, PlanAssembler, type PlanObserver } from './plan-observer.ts';

const recordsRead = 256;

/**
 * Observes plans by reading the records of a bus, which may be chunks of plans. Records lost before they are read are missed, so a fault that removes records
 * pauses the fleet, waits for `caughtUp`, removes them, waits again and resumes the fleet.
 */
export async function followBusPlans(bus: Bus, onPlan: OnPlan): Promise<PlanObserver> {
  const partitions = Array.from({ length: bus.partitions }, (_, partition) => partition);
  const followed = await Promise.all(
    partitions.map(
      async (partition) => new PartitionPlans(bus, partition, await bus.end('mutations', partition), onPlan),
    ),
  );
  return {
    async caughtUp() {
      await Promise.all(followed.map((each) => each.caughtUp()));
    },
    async close() {
      for (const each of followed) each.close();
      await Promise.all(followed.map(({ done }) => done));
      await bus.close();
    },
  };
}

class PartitionPlans {
  readonly done: Promise<void>;
  readonly #bus: Bus;
  readonly #partition: number;
  readonly #plans: PlanAssembler;
  #offset: number;
  #reader: PartitionReader;
  #closed = false;

  constructor(bus: Bus, partition: number, from: StreamOffset, onPlan: OnPlan) {
    this.#bus = bus;
    this.#partition = partition;
    this.#plans = new PlanAssembler(onPlan);
    this.#offset = from.offset;
    this.#reader = bus.read('mutations', partition, from);
    this.done = this.#follow();
  }

  /** Equal rather than at least: a log that lost its last records ends before the last record read. */
  async caughtUp(): Promise<void> {
    while (!this.#closed && (await this.#bus.end('mutations', this.#partition)).offset !== this.#offset)
      await sleep(20);
  }

  close(): void {
    this.#closed = true;
    this.#reader.close();
  }

  async #follow(): Promise<void> {
    while (!this.#closed) {
      try {
        const records = await this.#reader.next(recordsRead);
        for (const record of records) {
          this.#plans.add(record);
          this.#offset = record.offset;
        }
      } catch (error) {
        if (!isLogTruncatedError(error)) throw error;
        const end = await this.#bus.end('mutations', this.#partition);
        this.#reader.close();
        this.#reader = this.#bus.read('mutations', this.#partition, end);
        this.#offset = end.offset;
      }
    }
  }
}
