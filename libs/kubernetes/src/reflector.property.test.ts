import { type Random, randomInteger, seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { describe, expect, it } from 'vitest';
import { ApiError } from './api-error.ts';
import type { ClusterReader, RawObject, WatchEvent } from './cluster.ts';
import { Reflector } from './reflector.ts';

type Stored = ReadonlyMap<string, number>;
interface Logged {
  readonly version: number;
  readonly event: WatchEvent;
  /** All objects as of this version. */
  readonly after: Stored;
}

const fail = (kind: 'retry' | 'gone', status: number) => new ApiError('injected', { kind, status, reason: 'Injected' });
const object = (name: string, version: number): RawObject => ({ metadata: { name, resourceVersion: `${version}` } });
const versionOf = (raw: RawObject) => Number((raw.metadata as RawObject).resourceVersion);
const nameOf = (raw: RawObject) => String((raw.metadata as RawObject).name);

/** A server that changes at random while it is read, forgets its past, cuts, repeats itself and fails. */
class UnreliableServer implements ClusterReader {
  readonly watchList = false;
  readonly log: Logged[] = [{ version: 100, event: { type: 'BOOKMARK', resourceVersion: '100' }, after: new Map() }];
  readonly #random: Random;
  faults = true;

  constructor(random: Random) {
    this.#random = random;
  }

  get last(): Logged {
    const last = this.log.at(-1);
    if (last === undefined) throw new Error('the log is never empty');
    return last;
  }

  change(): void {
    const version = this.last.version + randomInteger(this.#random, 1, 3);
    const name = `p${randomInteger(this.#random, 0, 9)}`;
    const after = new Map(this.last.after);
    const known = after.has(name);
    if (known && this.#random.next() < 0.4) after.delete(name);
    else after.set(name, version);
    const type = after.has(name) ? (known ? 'MODIFIED' : 'ADDED') : 'DELETED';
    this.log.push({ version, event: { type, object: object(name, version) }, after });
  }

  async identity(): Promise<string> {
    return 'uid';
  }

  async list(_: string, options: { limit: number; continueToken: string }) {
    this.#perhapsChange();
    if (this.#fault(0.2)) throw fail('retry', 503);
    const [at, from] =
      options.continueToken === '' ? [this.last.version, 0] : options.continueToken.split('/').map(Number);
    if (options.continueToken !== '' && this.#fault(0.2)) throw fail('gone', 410);
    const entry = this.log.find(({ version }) => version === at) ?? this.last;
    const all = [...entry.after].map(([name, version]) => object(name, version));
    const end = (from ?? 0) + options.limit;
    return {
      items: all.slice(from, end),
      resourceVersion: `${entry.version}`,
      continueToken: end < all.length ? `${entry.version}/${end}` : '',
    };
  }

  async *watch(_: string, resourceVersion: string): AsyncIterable<readonly WatchEvent[]> {
    let from = Number(resourceVersion);
    if (this.#fault(0.2)) throw fail('gone', 410);
    for (let round = 0; round < 20; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      this.#perhapsChange();
      if (this.#fault(0.1)) throw fail('retry', 0);
      // Sometimes it sends earlier events again.
      const start = this.#fault(0.1) ? from - 5 : from;
      const news = this.log.filter(({ version }) => version > start).slice(0, randomInteger(this.#random, 0, 5));
      from = Math.max(from, news.at(-1)?.version ?? 0);
      yield news.map(({ event }) => event);
      if (this.#random.next() < 0.2) yield [{ type: 'BOOKMARK', resourceVersion: `${from}` }];
    }
  }

  #perhapsChange(): void {
    if (this.faults) for (let n = randomInteger(this.#random, 0, 3); n > 0; n--) this.change();
  }

  #fault(probability: number): boolean {
    return this.faults && this.#random.next() < probability;
  }
}

async function run(seed: number): Promise<void> {
  const server = new UnreliableServer(seededRandom(seed));
  const clock = new VirtualClock();
  const state = new Map<string, number>();
  let delivered = 0;
  const why = () => `seed ${seed}`;
  const reflector = new Reflector({
    cluster: server,
    resource: 'pods',
    decode: (raw) => ({ name: nameOf(raw), version: versionOf(raw) }),
    pageSize: 3,
    clock,
    random: seededRandom(seed + 1),
    logger: silentLogger,
    sink: {
      replace: (objects, version) => {
        expect(Number(version), why()).toBeGreaterThanOrEqual(delivered);
        delivered = Number(version);
        state.clear();
        for (const { name, version: stored } of objects) state.set(name, stored);
      },
      apply: (events) => {
        for (const event of events) {
          const version = event.type === 'BOOKMARK' ? Number(event.resourceVersion) : event.object.version;
          expect(version, why()).toBeGreaterThanOrEqual(delivered);
          delivered = version;
          if (event.type === 'DELETED') state.delete(event.object.name);
          else if (event.type !== 'BOOKMARK') state.set(event.object.name, event.object.version);
        }
        // At every step the sink holds exactly what the server held at that version.
        const then = server.log.findLast(({ version }) => version <= delivered);
        expect([...state].sort(), why()).toEqual([...(then?.after ?? [])].sort());
      },
    },
  });
  const abort = new AbortController();
  const running = reflector.run(abort.signal);
  for (let step = 0; step < 300; step++) {
    if (step === 200) server.faults = false;
    await new Promise((resolve) => setImmediate(resolve));
    clock.step();
  }
  abort.abort();
  await running;
  expect([...state].sort(), why()).toEqual([...server.last.after].sort());
  expect(delivered, why()).toBe(server.last.version);
}

describe('Reflector over an unreliable server', () => {
  it('never misses a change, never shows the past, and ends equal', async () => {
    for (let seed = 1; seed <= 60; seed++) await run(seed);
    // Some two seconds; a slow machine is no failure.
  });
});
