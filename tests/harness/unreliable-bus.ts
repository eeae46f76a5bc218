import { type AppendedOffsets, type Bus, type BusRecord, ForwardingBus, type Topic } from '@sluice/bus';
import { decodeMessage } from '@sluice/messages';
import { type Random, randomInteger } from '@sluice/runtime';

/** Probabilities for each Change. Outcomes and plans are unaffected. */
export interface BusFaults {
  /** The Change is lost. */
  readonly lose: number;
  /** The Change is delivered again, after up to `repeatWithin` later ones. */
  readonly repeat: number;
  readonly repeatWithin: number;
}

/** A bus that loses Changes and delivers old ones again, while `faulty`. */
export class UnreliableBus extends ForwardingBus {
  faulty = true;
  readonly #random: Random;
  readonly #faults: BusFaults;
  readonly #late: { readonly record: BusRecord; readonly partition: number; after: number }[] = [];

  constructor(inner: Bus, random: Random, faults: BusFaults) {
    super(inner);
    this.#random = random;
    this.#faults = faults;
  }

  override async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    if (topic !== 'changes' || !this.faulty) return this.inner.append(topic, partition, records);
    const delivered = records.flatMap((record) => this.#deliver(partition, record));
    if (delivered.length > 0) await this.inner.append(topic, partition, delivered);
    return undefined;
  }

  #deliver(partition: number, record: BusRecord): BusRecord[] {
    if (decodeMessage(record.payload).kind !== 'change') return [record];
    const due = this.#late.filter((entry) => entry.partition === partition && --entry.after <= 0);
    for (const entry of due) this.#late.splice(this.#late.indexOf(entry), 1);
    if (this.#random.next() < this.#faults.repeat) {
      this.#late.push({ record, partition, after: randomInteger(this.#random, 1, this.#faults.repeatWithin) });
    }
    const lost = this.#random.next() < this.#faults.lose;
    return [...(lost ? [] : [record]), ...due.map((entry) => entry.record)];
  }
}
