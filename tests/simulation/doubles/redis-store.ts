import type { Clock, Random } from '@sluice/platform';
import type { Checkpoint, Commit } from '@sluice/store';
import { type Lua, MemoryRedis, memoryPorts } from '@sluice/store/redis/testing';
import {
  type ConnectedStore,
  exchange,
  observedLeases,
  type SimulatedStore,
  type StoreBackup,
  type StoreObserver,
} from './simulated-store.ts';

export interface RedisStoreDoubleOptions {
  readonly lua: Lua;
  readonly clock: Clock;
  readonly observer: StoreObserver;
}

interface Known {
  readonly revision: number;
  readonly entries: ReadonlyMap<string, string>;
}

const fleet = 'sluice';
/** Fewer than most scopes have, so that a claim reads several pages. */
const scanLimit = 12;

const keyOf = (scope: string, part: 'meta' | 'view'): string => `{${fleet}:${scope}}:${part}`;
const isLease = (key: string): boolean => key.startsWith(`{${fleet}:leases/`);

/** The production adapters and scripts for Redis, on a server in this process. */
export class RedisStoreDouble implements SimulatedStore {
  readonly #options: RedisStoreDoubleOptions;
  readonly #server: MemoryRedis;
  readonly #known = new Map<string, Known>();

  constructor(options: RedisStoreDoubleOptions) {
    this.#options = options;
    this.#server = new MemoryRedis({ lua: options.lua, clock: options.clock, scanLimit });
  }

  get scopes(): readonly string[] {
    return this.#server.keys.flatMap((key) => /^\{sluice:(\w+\/.*)\}:meta$/.exec(key)?.[1] ?? []);
  }

  entries(scope: string): ReadonlyMap<string, string> {
    const { revision } = this.#server;
    const known = this.#known.get(scope);
    if (known?.revision === revision) return known.entries;
    const view = this.#server.hash(keyOf(scope, 'view'));
    const entries = new Map([...view].map(([name, value]) => [fromBytes(nameOf(name)), fromBytes(value)]));
    this.#known.set(scope, { revision, entries });
    return entries;
  }

  checkpoint(scope: string): Checkpoint | null {
    const stored = this.#server.hash(keyOf(scope, 'meta')).get('checkpoint');
    return stored === undefined || stored === garbage ? null : JSON.parse(fromBytes(stored));
  }

  connect(member: string): ConnectedStore {
    const { clock, observer } = this.#options;
    const commits = new Map<string, Commit>();
    const { store, leases } = memoryPorts({
      ...{ server: this.#server, clock, fleet },
      intercept: ([key = ''], run) => {
        const [, scope = ''] = /^\{sluice:(.*)\}:meta$/.exec(key) ?? [];
        const previous = scope === '' ? null : this.checkpoint(scope);
        const reply = run();
        const commit = commits.get(scope);
        if (Array.isArray(reply) && reply[0] === 'committed' && commit) observer.committed(member, commit, previous);
        return reply;
      },
    });
    return {
      store: {
        claim: async (scope, fencingToken) => {
          observer.claimed(member, scope, fencingToken);
          const state = await store.claim(scope, fencingToken);
          observer.restored(member, scope, state);
          return state;
        },
        commit: async (commit) => {
          commits.set(commit.scope, commit);
          await store.commit(commit);
        },
        find: (...args) => store.find(...args),
        setIfAbsent: (...args) => store.setIfAbsent(...args),
        checkpoint: (...args) => store.checkpoint(...args),
      },
      leases: observedLeases(leases, observer),
    };
  }

  restart(): void {
    this.#server.restart();
  }

  backup(): StoreBackup {
    const data = this.#server.save();
    const restore = (matches: (key: string) => boolean) => {
      this.restart();
      this.#server.load(data, matches);
    };
    return {
      restore: () => restore(() => true),
      restoreScope: (scope) => restore((key) => key === keyOf(scope, 'meta') || key === keyOf(scope, 'view')),
    };
  }

  corrupt(scope: string, random: Random): void {
    const view = keyOf(scope, 'view');
    const fields = [...this.#server.hash(view).keys()];
    const field = fields[Math.floor(random.next() * fields.length)];
    const chance = random.next();
    if (chance < 0.2) this.#server.execute(['HSET', keyOf(scope, 'meta'), 'checkpoint', garbage]);
    else if (chance < 0.4) this.#server.execute(['HSET', view, garbage, garbage]);
    else if (field !== undefined) this.#server.execute(['HSET', view, field, '{"unreadable":1}']);
  }

  replaceValue(scope: string, random: Random): void {
    const view = keyOf(scope, 'view');
    const stored = this.#server.hash(view);
    const names = new Map([...stored.keys()].map((name) => [fromBytes(nameOf(name)), name]));
    const values = new Map([...names].map(([name, field]) => [name, stored.get(field) ?? '']));
    const [name = '', value = ''] = exchange(values, random) ?? [];
    const field = names.get(name);
    if (field === undefined) return;
    this.#server.execute(['HSET', view, field, value]);
    this.#options.observer.replaced(scope, name, fromBytes(value));
  }

  changeLease(random: Random): string | undefined {
    const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random.next() * from.length)];
    const key = pick(this.#server.keys.filter((one) => isLease(one) && this.#server.hash(one).size > 0));
    if (key === undefined) return undefined;
    const fields = this.#server.hash(key);
    const field = pick([...fields.keys()]) ?? '';
    const value = random.next() < 0.5 ? garbage : (pick([...fields.values()]) ?? garbage);
    this.#server.execute(['HSET', key, field, value]);
    return `${field} in ${key}`;
  }

  wipe(): void {
    this.restart();
    this.#server.load(new Map(), () => true);
  }

  loseLeases(): void {
    this.#server.load(new Map(), isLease);
  }

  stepClock(ms: number): void {
    this.#server.stepClock(ms);
  }
}

const garbage = '{"unreadable';

const fromBytes = (bytes: string): string => Buffer.from(bytes, 'latin1').toString();

/** The key and the field, separated by a line feed. */
function nameOf(name: string): string {
  if (name === garbage) return name;
  const [key, field]: readonly string[] = JSON.parse(name);
  return `${key}\n${field}`;
}
