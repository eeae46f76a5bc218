import {
  type Bus,
  ByReferenceBus,
  isLogTruncatedError,
  LocalDeliveryBus,
  type PartitionReader,
  type StreamOffset,
  streamStart,
} from '@sluice/bus';
import { type Random, randomInteger, seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { JetStreamBusDouble } from '../doubles/jetstream-bus.ts';
import { LossyBus } from '../doubles/lossy-bus.ts';
import type { SimulatedBus } from '../doubles/simulated-bus.ts';
import { chance, holds, type ModelCheck, pick, same } from './model-check.ts';

/** Time in which what the log has reaches a reader, and what lingers reaches the log, in milliseconds. */
const settledMs = 1_000;
/** More than any reader keeps of what it has returned early. */
const rounds = 60;

interface Stored {
  readonly id: string;
  readonly text: string;
}

/** Readers get every record of a log once and in order, continue where they were, and find out when they cannot. */
export const logsCheck: ModelCheck = {
  invariant: 'a log is read in order',
  async run(random) {
    const clock = new VirtualClock(1_000_000);
    const bus = await openBus(random, clock);
    const world = new LogWorld(random, clock, bus);
    for (let n = 0; n < 25; n++) await world.step();
    world.close();
    await bus.close();
    await advance(clock, settledMs);
  },
};

async function openBus(random: Random, clock: VirtualClock): Promise<SimulatedBus> {
  if (chance(random, 0.5)) return new LossyBus(1, { dropsRepeated: true, dropsReleased: false });
  const seed = randomInteger(random, 1, 1_000_000);
  const replicas = pick(random, [1, 3]);
  return JetStreamBusDouble.start({ partitions: 1, replicas, recordBytes: null, clock, random: seededRandom(seed) });
}

class LogWorld {
  readonly #random: Random;
  readonly #clock: VirtualClock;
  readonly #bus: SimulatedBus;
  /** By offset. Purged records are missing. */
  #records = new Map<number, Stored>();
  #last = 0;
  #generation = 1;
  #appended = 0;
  #reader: PartitionReader | undefined;
  /** Where the reader continues, and of which log. */
  #at: StreamOffset = streamStart;
  #readGeneration = 1;

  constructor(random: Random, clock: VirtualClock, bus: SimulatedBus) {
    this.#random = random;
    this.#clock = clock;
    this.#bus = bus;
  }

  async step(): Promise<void> {
    const at = this.#random.next();
    if (at < 0.45) await this.#append();
    else if (at < 0.85) await this.#read();
    else if (at < 0.93) this.close();
    else await this.#lose();
  }

  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
  }

  async #append(): Promise<void> {
    const repeated = this.#records.get(this.#last);
    const count = randomInteger(this.#random, 1, 4);
    const added = Array.from(
      { length: count },
      (): Stored => ({ id: `r${++this.#appended}`, text: `"${this.#appended} ü"` }),
    );
    const records = repeated !== undefined && chance(this.#random, 0.2) ? [repeated, ...added] : added;
    const appending = this.#bus.append('changes', 0, records.map(recordOf));
    const offsets = await this.#settled(appending);
    for (const record of added) this.#records.set(++this.#last, record);
    same('offset of the last appended record', offsets?.at(-1), this.#last);
  }

  async #read(): Promise<void> {
    const reader = this.#reader ?? this.#bus.read('changes', 0, this.#at);
    this.#reader = reader;
    const next = this.#at.offset + 1;
    const before = this.#records.get(this.#at.offset);
    const isSame = this.#at.streamId === '' || this.#readGeneration === this.#generation;
    const isLost =
      !isSame ||
      this.#at.offset > this.#last ||
      (this.#at.id !== '' && before !== undefined && before.id !== this.#at.id) ||
      (next <= this.#last && !this.#records.has(next));
    if (!isLost && next > this.#last) return;
    const found = await this.#settled(reader.next(pick(this.#random, [1, 2, 100])).catch(truncatedOr));
    if (isLost || found === 'truncated') {
      same(
        `whether a reader after ${this.#at.offset} of a log that ends at ${this.#last} finds records lost`,
        found,
        isLost ? 'truncated' : 'records',
      );
      this.close();
      this.#at = await this.#settled(this.#bus.beginning('changes', 0));
      this.#readGeneration = this.#generation;
      return;
    }
    holds('a reader gets no records', found.length > 0);
    for (const [i, { offset, id, payload }] of found.entries()) {
      const wanted = this.#records.get(next + i);
      same(
        `record ${i + 1} after ${this.#at.offset}`,
        [offset, id, Buffer.from(payload).toString()],
        [next + i, wanted?.id, wanted?.text],
      );
    }
    const last = found.at(-1);
    if (last !== undefined) this.#at = { offset: last.offset, id: last.id, streamId: reader.streamId };
    this.#readGeneration = this.#generation;
  }

  async #lose(): Promise<void> {
    const log = this.#bus.log('changes', 0);
    // What an open reader notices, and when, depends on the bus.
    this.close();
    const at = this.#random.next();
    if (at < 0.3) {
      log.purge();
      this.#records.clear();
    } else if (at < 0.5) {
      log.recreate();
      this.#records.clear();
      this.#last = 0;
      this.#generation += 1;
    } else if (this.#records.size > 0) {
      const count = randomInteger(this.#random, 1, Math.min(3, this.#records.size));
      log.loseLast(count);
      for (let n = 0; n < count; n++) this.#records.delete(this.#last--);
    }
    await advance(this.#clock, settledMs);
  }

  async #settled<T>(answer: Promise<T>): Promise<T> {
    let settled: { readonly value: T } | { readonly error: unknown } | undefined;
    answer.then(
      (value) => {
        settled = { value };
      },
      (error: unknown) => {
        settled = { error };
      },
    );
    for (let n = 0; n < 40 && settled === undefined; n++) await advance(this.#clock, 250);
    holds('a bus does not answer', settled !== undefined);
    return answer;
  }
}

const truncatedOr = (error: unknown): 'truncated' => {
  if (isLogTruncatedError(error)) return 'truncated';
  throw error;
};

const recordOf = ({ id, text }: Stored) => ({ key: 'c/shop/web', id, headers: { h: id }, payload: Buffer.from(text) });

/** A process reads what it has appended itself, early, by reference and from the log, and what others have appended. */
export const localCheck: ModelCheck = {
  invariant: 'a process reads its own records once',
  async run(random) {
    const clock = new VirtualClock(1_000_000);
    const log = new LossyBus(1, { dropsRepeated: chance(random, 0.5), dropsReleased: false });
    const own: Bus = new LocalDeliveryBus(new ByReferenceBus(log), { clock, random: seededRandom(1) });
    const reader = own.read('changes', 0, streamStart);
    const read: { readonly id: string; readonly isEarly: boolean; readonly isRepeated: boolean }[] = [];
    let wrong: unknown;
    void (async () => {
      for (;;) {
        const records = await reader.next(10);
        if (records.length === 0) return;
        for (const { id, isEarly = false, isRepeated = false, message, payload } of records) {
          if (message !== undefined) same(`message of ${id}`, JSON.stringify(message), Buffer.from(payload).toString());
          read.push({ id, isEarly, isRepeated });
        }
      }
    })().catch((error: unknown) => {
      wrong = error;
    });
    let [appended, refused] = [0, 0];
    const early = new Set<string>();
    for (let n = 0; n < rounds; n++) {
      const records = Array.from({ length: randomInteger(random, 1, 8) }, () => ownRecord(++appended));
      // Another process has sent the same Outcome with other content, or sends it later.
      const [{ id } = { id: '' }] = records;
      const foreign = { ...ownRecord(appended), id, payload: Buffer.from('{"of":"another"}') };
      const at = random.next();
      if (at < 0.15) await log.append('changes', 0, [foreign]);
      if (chance(random, 0.7)) {
        const stored = own.deliver?.('changes', 0, records);
        if (stored === undefined) {
          refused += 1;
          await own.append('changes', 0, records);
        } else for (const { id } of records) early.add(id);
      } else await own.append('changes', 0, records);
      if (at > 0.85) await log.append('changes', 0, [foreign]);
      if (chance(random, 0.8)) await advance(clock, settledMs);
    }
    await advance(clock, settledMs);
    if (wrong !== undefined) throw wrong;
    const stored = (log.log('changes', 0).appended ?? []).map(({ id }) => id);
    same(
      'records from the log',
      read.filter(({ isEarly }) => !isEarly).map(({ id }) => id),
      stored,
    );
    same(
      'records that were delivered early',
      read.filter(({ isEarly }) => isEarly).map(({ id }) => id),
      [...early],
    );
    const repeated = read.filter(({ isRepeated }) => isRepeated).map(({ id }) => id);
    same(
      'records that are marked as repeated',
      repeated,
      [...new Set(stored)].filter((id) => early.has(id)),
    );
    holds(`${refused} of ${rounds} deliveries are refused`, refused <= rounds / 2);
    // Whatever was read before, the next one has room.
    await advance(clock, settledMs);
    holds(
      'a delivery is refused when nothing waits',
      own.deliver?.('changes', 0, [ownRecord(++appended)]) !== undefined,
    );
    await advance(clock, settledMs);
    reader.close();
    await advance(clock, settledMs);
  },
};

const ownRecord = (n: number) => ({
  ...{ key: 'c/shop/web', id: `r${n}`, headers: {}, message: { n } },
  payload: Buffer.from(JSON.stringify({ n })),
});
