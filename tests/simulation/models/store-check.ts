import { type Random, randomInteger, VirtualClock } from '@sluice/platform';
import { type Checkpoint, type Commit, isFencedError, MemoryStore, type Store } from '@sluice/store';
import { Lua, MemoryRedis, memoryPorts, type RedisData } from '@sluice/store/redis/testing';
import { chance, type ModelCheck, pick, same, some } from './model-check.ts';

/** What the store has of a scope. */
interface ModelScope {
  token: number;
  checkpoint: Checkpoint | null;
  /** Increases with each claim and commit, and decreases when the server loses some. */
  version: number;
  readonly entries: Map<string, unknown>;
  /** The run of the server in which the last commit was. */
  run: number;
}

interface Client {
  readonly store: Store;
  /** Version and token of the scope's last claim or commit by this process. */
  readonly known: Map<string, { readonly token: number; readonly version: number }>;
}

const scopes = ['reconciler/0', 'writer/1'];
const keys = ['c/ns/a', 'c/ns/b "x"', 'c/ns/controller/'];
const fields = ['service', 'pod/p1', 'pod/p2', 'pod/[p]*', 'controller/x\n', 'ü'];
const values: readonly unknown[] = [
  0,
  '',
  null,
  [],
  { text: 'ü€😀\u0000', list: [1, null] },
  'long'.repeat(50),
  undefined,
];
const prefixes = ['', 'pod/', 'pod/[p]*', 'p', 'controller/', 'x'];
const names = ['partitions', 'settings'];
const nobody: Checkpoint = { offset: 0, id: '', streamId: '' };

let lua: Promise<Lua> | undefined;

/** Several processes claim, commit to, and read scopes of the same store. Redis also restarts, and loses what it was given last. */
export const storeCheck: ModelCheck = {
  invariant: 'the store keeps what was committed',
  async run(random) {
    const isRedis = chance(random, 0.6);
    lua ??= Lua.load();
    const server = new MemoryRedis({
      lua: await lua,
      clock: new VirtualClock(1_000),
      scanLimit: randomInteger(random, 1, 12),
    });
    const shared = new MemoryStore();
    const open = () =>
      isRedis ? memoryPorts({ server, clock: new VirtualClock(1_000), fleet: 'model' }).store : shared;
    const world = new StoreWorld(
      random,
      isRedis ? server : undefined,
      [1, 2, 3].map(() => ({ store: open(), known: new Map() })),
    );
    for (let n = 0; n < 40; n++) await world.step();
  },
};

class StoreWorld {
  readonly #random: Random;
  readonly #server: MemoryRedis | undefined;
  readonly #clients: readonly Client[];
  #scopes = new Map<string, ModelScope>();
  readonly #settled = new Map<string, string>();
  #versions = 0;
  #run = 1;
  #backup: { readonly data: RedisData; readonly scopes: ReadonlyMap<string, ModelScope> } | undefined;

  constructor(random: Random, server: MemoryRedis | undefined, clients: readonly Client[]) {
    this.#random = random;
    this.#server = server;
    this.#clients = clients;
  }

  async step(): Promise<void> {
    const random = this.#random;
    const [client, name, at] = [pick(random, this.#clients), pick(random, scopes), random.next()];
    if (at < 0.25) await this.#claim(client, name);
    else if (at < 0.75) await this.#commit(client, name);
    else if (at < 0.85) await this.#find(client, name);
    else if (at < 0.9)
      same('checkpoint', (await client.store.checkpoint(name)) ?? nobody, this.#scope(name).checkpoint ?? nobody);
    else if (at < 0.94) await this.#settle(client, pick(random, names));
    else if (this.#server !== undefined) this.#disturb(this.#server);
  }

  async #claim({ store, known }: Client, name: string): Promise<void> {
    const scope = this.#scope(name);
    const token = this.#token(scope);
    const claimed = await fencedOr(store.claim(name, token));
    if (token < scope.token) return same(`claim of ${name} with an old token`, claimed, 'fenced');
    scope.token = token;
    scope.version = ++this.#versions;
    known.set(name, { token, version: scope.version });
    if (claimed === 'fenced') return same(`claim of ${name}`, claimed, 'claimed');
    same(
      `entries of ${name}`,
      sorted(claimed.entries.map(({ key, field, value }) => [`${key}\0${field}`, value])),
      sorted(scope.entries),
    );
    same(`checkpoint of ${name}`, claimed.checkpoint ?? nobody, scope.checkpoint ?? nobody);
    if (scope.checkpoint !== null) same(`whether ${name} is intact`, claimed.intact, scope.run === this.#run);
  }

  async #commit({ store, known }: Client, name: string): Promise<void> {
    const random = this.#random;
    const scope = this.#scope(name);
    const own = known.get(name);
    const token = own !== undefined && chance(random, 0.8) ? own.token : this.#token(scope);
    const offset = scope.checkpoint?.offset ?? 0;
    const expectedOffset = chance(random, 0.9) ? offset : Math.max(0, offset + pick(random, [-1, 1]));
    const id = `r${randomInteger(random, 1, 99)}`;
    const checkpoint = {
      offset: expectedOffset + randomInteger(random, 0, 3),
      id,
      streamId: pick(random, ['s1', 's2']),
    };
    const entries = some(random, keys).flatMap((key) =>
      some(random, fields).map((field) => ({ key, field, value: pick(random, values) })),
    );
    const commit: Commit = { scope: name, fencingToken: token, expectedOffset, checkpoint, entries };
    const answer = await fencedOr(store.commit(commit));
    const isOwn = this.#server === undefined || own?.token !== token || own.version === scope.version;
    if (token < scope.token || expectedOffset !== offset || !isOwn)
      return same(`commit to ${name} of a former owner`, answer, 'fenced');
    same(`commit to ${name}`, answer, undefined);
    for (const { key, field, value } of entries)
      if (value === undefined) scope.entries.delete(`${key}\0${field}`);
      else scope.entries.set(`${key}\0${field}`, value);
    Object.assign(scope, { token, checkpoint, version: ++this.#versions, run: this.#run });
    known.set(name, { token, version: scope.version });
  }

  async #find({ store }: Client, name: string): Promise<void> {
    const prefix = pick(this.#random, prefixes);
    const found = (await store.find(name, prefix)).map(({ key, field, value }) => [`${key}\0${field}`, value] as const);
    const wanted = [...this.#scope(name).entries].filter(([entry]) => entry.split('\0')[1]?.startsWith(prefix));
    same(`fields of ${name} that begin with ${JSON.stringify(prefix)}`, sorted(found), sorted(wanted));
  }

  async #settle({ store }: Client, name: string): Promise<void> {
    const value = String(randomInteger(this.#random, 1, 9));
    if (!this.#settled.has(name)) this.#settled.set(name, value);
    same(`value of ${name}`, await store.setIfAbsent(name, value), this.#settled.get(name));
  }

  /** The server restarts, or comes back with an older state. */
  #disturb(server: MemoryRedis): void {
    const ofScope = (key: string) => /:(meta|view)$/.test(key);
    if (this.#backup === undefined || chance(this.#random, 0.4)) {
      this.#backup = { data: server.save(), scopes: copyOf(this.#scopes) };
    } else if (chance(this.#random, 0.5)) {
      server.load(this.#backup.data, ofScope);
      this.#scopes = copyOf(this.#backup.scopes);
    }
    if (chance(this.#random, 0.5)) {
      server.restart();
      this.#run += 1;
    }
  }

  #token(scope: ModelScope): number {
    return Math.max(1, scope.token + pick(this.#random, [-1, 0, 0, 1, 2]));
  }

  #scope(name: string): ModelScope {
    const scope = this.#scopes.get(name) ?? { token: 0, checkpoint: null, version: 0, entries: new Map(), run: 0 };
    this.#scopes.set(name, scope);
    return scope;
  }
}

const copyOf = (from: ReadonlyMap<string, ModelScope>): Map<string, ModelScope> =>
  new Map([...from].map(([name, scope]) => [name, { ...scope, entries: new Map(scope.entries) }]));

const sorted = (entries: Iterable<readonly unknown[]>): readonly string[] =>
  [...entries].map((entry) => JSON.stringify(entry)).sort();

async function fencedOr<T>(answer: Promise<T>): Promise<T | 'fenced'> {
  try {
    return await answer;
  } catch (error) {
    if (isFencedError(error)) return 'fenced';
    throw error;
  }
}
