import { type Bus, BusClosedError, type BusRecord } from '@sluice/bus';
import { type Change, decodeMessage } from '@sluice/messages';

/** A bus whose appends take as long as the test wants, and fail when it wants. */
export class GatedBus implements Bus {
  readonly partitions: number;
  /** Ids of the records of each try, in order. */
  readonly tries: string[][] = [];
  readonly changes: Change[] = [];
  /** While set, appends wait. */
  shut = false;
  /** How many of the next appends fail. */
  failures = 0;
  #closed = false;
  #waiting: (() => void)[] = [];

  constructor(partitions = 1) {
    this.partitions = partitions;
  }

  open(): void {
    this.shut = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async append(_topic: string, _partition: number, records: readonly BusRecord[]): Promise<void> {
    if (this.#closed) throw new BusClosedError('closed');
    this.tries.push(records.map(({ id }) => id));
    if (this.shut) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.failures > 0) {
      this.failures--;
      throw new Error('the bus is away');
    }
    for (const { payload } of records) this.changes.push(decodeMessage(payload) as Change);
  }

  async end(): Promise<never> {
    throw new Error('a watcher asks for the end of requests only');
  }

  read(): never {
    throw new Error('nobody reads here');
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.open();
  }
}
