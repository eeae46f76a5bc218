import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, isLogTruncatedError, type PartitionReader, type StreamOffset } from '@sluice/bus';
import { type OnPlan, type PlanObserver, tellPlan } from './plan-observer.ts';

const recordsRead = 256;

/**
 * Plans as a reader of the bus sees them. What a log loses before it was read is not seen: whoever takes records away holds
 * the fleet still, waits for `caughtUp`, does so, waits again and lets the fleet go on.
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
  readonly #onPlan: OnPlan;
  #offset: number;
  #reader: PartitionReader;
  #closed = false;

  constructor(bus: Bus, partition: number, from: StreamOffset, onPlan: OnPlan) {
    this.#bus = bus;
    this.#partition = partition;
    this.#onPlan = onPlan;
    this.#offset = from.offset;
    this.#reader = bus.read('mutations', partition, from);
    this.done = this.#follow();
  }

  /** Equal, not beyond: a log that lost its last records ends before what was read. */
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
        for (const { payload, offset } of records) {
          tellPlan(payload, this.#onPlan);
          this.#offset = offset;
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
