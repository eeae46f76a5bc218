import {
  ApiError,
  type ClusterReader,
  type ListOptions,
  type ListPage,
  type RawObject,
  Reflector,
  type WatchEvent,
  type WatchOptions,
} from '@sluice/kubernetes';
import {
  asRecord,
  type Random,
  randomInteger,
  seededRandom,
  silentLogger,
  sleep,
  VirtualClock,
} from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { wireCluster } from '../doubles/wire-connection.ts';
import { chance, holds, type ModelCheck, pick, same } from './model-check.ts';

type Stored = ReadonlyMap<string, number>;

/** A change, and all objects after it. */
interface Logged {
  readonly version: number;
  readonly event: WatchEvent;
  readonly after: Stored;
}

const disturbedMs = 60_000;
/** How long a reflector may take after the last fault: its longest backoff, and a watch that was opened before. */
const settledMs = 120_000;
/** Within one outage. More of them in a row prove that the cluster was restored. */
const mostStale = 5;

/** A reflector, and the client below it, never misses a change and never shows the past, whatever the server does. */
export const reflectorCheck: ModelCheck = {
  invariant: 'a reflector shows what the server has',
  async run(random) {
    const clock = new VirtualClock(1_000);
    const server = new ChangingServer(random, clock);
    const sink = new CheckedSink(server);
    const wire = pick(random, ['objects', 'json', 'protobuf'] as const);
    const seed = randomInteger(random, 1, 1_000_000);
    const cluster =
      wire === 'objects'
        ? server
        : wireCluster({ reader: server, clock, random: seededRandom(seed), protobuf: wire === 'protobuf' });
    const reflector = new Reflector({
      ...{ cluster, clock, sink, logger: silentLogger, random: seededRandom(seed + 1) },
      resource: 'endpoints',
      decode: (raw) => ({ name: nameOf(raw), version: versionOf(raw) }),
      pageSize: randomInteger(random, 1, 6),
      watchList: chance(random, 0.5),
    });
    const stop = new AbortController();
    const running = reflector.run(stop.signal);
    // What the sink finds wrong ends it. That is awaited at the end.
    running.catch(() => stop.abort());
    for (let at = 0; at < disturbedMs && !stop.signal.aborted; at += 1_000) {
      await advance(clock, 1_000);
      if (chance(random, 0.3)) server.change();
      if (chance(random, 0.15)) server.forget();
      if (chance(random, 0.05)) server.cut();
    }
    server.heal();
    if (stop.signal.aborted) return running;
    await advance(clock, settledMs);
    if (stop.signal.aborted) return running;
    same('objects after all faults', sorted(sink.objects), sorted(server.last.after));
    const { lists, state } = reflector.status();
    same('state after all faults', state, 'watching');
    for (let n = 0; n < 5; n++) {
      server.change();
      await advance(clock, 5_000);
      same('objects after a change', sorted(sink.objects), sorted(server.last.after));
    }
    same('lists without a fault', reflector.status().lists, lists);
    stop.abort();
    server.cut();
    await advance(clock, 1_000);
    await running;
  },
};

/** Whatever is delivered is the server's state at that version, and versions never decrease. */
class CheckedSink {
  readonly objects = new Map<string, number>();
  readonly #server: ChangingServer;
  #delivered = 0;

  constructor(server: ChangingServer) {
    this.#server = server;
  }

  replace(objects: readonly { name: string; version: number }[], version: string): void {
    this.objects.clear();
    for (const object of objects) this.objects.set(object.name, object.version);
    this.#reach(Number(version));
  }

  apply(events: readonly WatchEvent<{ name: string; version: number }>[]): void {
    let version = 0;
    for (const event of events) {
      version = event.type === 'BOOKMARK' ? Number(event.resourceVersion) : event.object.version;
      holds(`version ${version} is delivered after ${this.#delivered}`, version >= this.#delivered);
      if (event.type === 'DELETED') this.objects.delete(event.object.name);
      else if (event.type !== 'BOOKMARK') this.objects.set(event.object.name, event.object.version);
    }
    this.#reach(version);
  }

  #reach(version: number): void {
    holds(`version ${version} is delivered after ${this.#delivered}`, version >= this.#delivered);
    this.#delivered = version;
    same(`objects at version ${version}`, sorted(this.objects), sorted(this.#server.at(version)));
  }
}

/** Changes while it is read, forgets its past, breaks connections, lags behind, repeats events and fails. */
class ChangingServer implements ClusterReader {
  readonly watchList = true;
  readonly #random: Random;
  readonly #clock: VirtualClock;
  #log: Logged[] = [{ version: 100, event: { type: 'BOOKMARK', resourceVersion: '100' }, after: new Map() }];
  #isFaulty = true;
  #stale = 0;
  #connections = new AbortController();

  constructor(random: Random, clock: VirtualClock) {
    this.#random = random;
    this.#clock = clock;
    for (let n = randomInteger(random, 0, 8); n > 0; n--) this.change();
  }

  get last(): Logged {
    return this.#log.at(-1) as Logged;
  }

  at(version: number): Stored {
    return this.#log.findLast((logged) => logged.version <= version)?.after ?? new Map();
  }

  change(): void {
    const version = this.last.version + randomInteger(this.#random, 1, 3);
    const name = `web-${randomInteger(this.#random, 0, 9)}`;
    const after = new Map(this.last.after);
    const isKnown = after.has(name);
    if (isKnown && chance(this.#random, 0.4)) after.delete(name);
    else after.set(name, version);
    const type = after.has(name) ? (isKnown ? 'MODIFIED' : 'ADDED') : 'DELETED';
    this.#log.push({ version, event: { type, object: object(name, version) }, after });
  }

  /** Watches from older versions are no longer possible, and open ones end. */
  forget(): void {
    this.#forgotten = this.last.version;
    this.cut();
  }

  #forgotten = 0;

  cut(): void {
    this.#connections.abort();
    this.#connections = new AbortController();
  }

  heal(): void {
    this.#isFaulty = false;
  }

  async identity(): Promise<string> {
    return 'uid';
  }

  async list(_: string, { limit, continueToken }: ListOptions): Promise<ListPage> {
    await this.#respond();
    const [at, from] = continueToken === '' ? [this.#readable(), 0] : continueToken.split('/').map(Number);
    if (continueToken !== '' && this.#fails(0.1)) throw failure('gone', 410);
    const { version, after } = this.#log.findLast((logged) => logged.version <= (at ?? 0)) ?? this.last;
    const all = [...after].map(([name, stored]) => object(name, stored));
    const end = (from ?? 0) + limit;
    const token = end < all.length ? `${version}/${end}` : '';
    return { items: all.slice(from, end), resourceVersion: `${version}`, continueToken: token };
  }

  async *watch(
    _: string,
    resourceVersion: string,
    __: AbortSignal,
    { sendInitialEvents = false }: WatchOptions = {},
  ): AsyncIterable<readonly WatchEvent[]> {
    const connection = this.#connections.signal;
    await this.#respond();
    let from = Number(resourceVersion);
    if (!sendInitialEvents && from < this.#forgotten) throw failure('gone', 410);
    yield [];
    const waiting: WatchEvent[] = [];
    if (sendInitialEvents) {
      from = Math.max(from, this.#readable());
      const { version, after } = this.#log.findLast((logged) => logged.version <= from) ?? this.last;
      for (const [name, stored] of after) waiting.push({ type: 'ADDED', object: object(name, stored) });
      waiting.push({ type: 'BOOKMARK', resourceVersion: `${version}`, initialEventsEnd: true });
      from = version;
      // What has changed since may arrive together with the initial events.
      if (chance(this.#random, 0.5)) this.change();
    }
    for (;;) {
      if (connection.aborted) return;
      if (this.#fails(0.02)) throw failure('retry', 0);
      const start = this.#fails(0.1) && !sendInitialEvents ? Math.max(Number(resourceVersion), from - 5) : from;
      const news = this.#log.filter(({ version }) => version > start);
      from = Math.max(from, news.at(-1)?.version ?? 0);
      waiting.push(...news.map(({ event }) => event));
      if (waiting.length > 0 && chance(this.#random, 0.1))
        waiting.push({ type: 'BOOKMARK', resourceVersion: `${from}` });
      while (waiting.length > 0) yield waiting.splice(0, randomInteger(this.#random, 1, 6));
      await sleep(this.#clock, 500);
    }
  }

  /** A version that this replica has reached. */
  #readable(): number {
    const isStale = this.#stale < mostStale && this.#fails(0.3);
    this.#stale = isStale ? this.#stale + 1 : 0;
    return isStale ? pick(this.#random, this.#log.slice(-8)).version : this.last.version;
  }

  async #respond(): Promise<void> {
    await sleep(this.#clock, randomInteger(this.#random, 0, 20));
    if (this.#fails(0.15)) throw failure('retry', pick(this.#random, [0, 429, 500, 503]));
    if (this.#isFaulty) for (let n = randomInteger(this.#random, 0, 2); n > 0; n--) this.change();
  }

  #fails(probability: number): boolean {
    return this.#isFaulty && chance(this.#random, probability);
  }
}

const failure = (kind: 'retry' | 'gone', status: number) =>
  new ApiError('injected', { kind, status, reason: 'Injected' });
const object = (name: string, version: number): RawObject => ({
  metadata: { name, namespace: 'shop', uid: name, resourceVersion: `${version}`, annotations: { text: 'ü "{[\\' } },
  subsets: [],
});
const versionOf = (raw: RawObject) => Number(asRecord(raw.metadata).resourceVersion);
const nameOf = (raw: RawObject) => String(asRecord(raw.metadata).name);
const sorted = (objects: Stored): readonly unknown[] => [...objects].sort();
