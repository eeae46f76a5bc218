import type { Clock } from '@sluice/runtime';
import {
  type Checkpoint,
  type Commit,
  FencedError,
  type GroupState,
  type Heartbeat,
  type Leases,
  MemoryLeases,
  type ScopeState,
  type Store,
  type StoredEntry,
} from '@sluice/store';

/** Replaced, never changed, so that a backup is a copy of the map. */
interface Scope {
  readonly epoch: number;
  /** Changes with each claim and commit. */
  readonly version: number;
  /** Of the server that took the last commit. */
  readonly incarnation: number;
  readonly checkpoint: Checkpoint | null;
  /** As JSON, by key and field. */
  readonly entries: ReadonlyMap<string, string>;
}

export interface StoreObserver {
  committed(commit: Commit): void;
  group(name: string, state: GroupState): void;
}

export type Backup = ReadonlyMap<string, Scope>;

const nothing: Omit<Scope, 'epoch' | 'version'> = {
  incarnation: 0,
  checkpoint: null,
  entries: new Map(),
};

/** A store server, of the ways of Redis (decision 0012), that can be restarted, wiped and put back. */
export class LosableStore {
  readonly #observer: StoreObserver;
  readonly #clock: Clock;
  readonly #settled = new Map<string, string>();
  readonly #watchers = new Set<readonly [group: string, onChange: () => void]>();
  #scopes = new Map<string, Scope>();
  #leases: MemoryLeases;
  #incarnation = 1;
  #version = 0;

  constructor(clock: Clock, observer: StoreObserver) {
    this.#clock = clock;
    this.#leases = new MemoryLeases(clock);
    this.#observer = observer;
  }

  /** Nothing is lost, but nobody can be sure. */
  restart(): void {
    this.#incarnation += 1;
  }

  backup(): Backup {
    return new Map(this.#scopes);
  }

  putBack(backup: Backup): void {
    this.restart();
    this.#scopes = new Map(backup);
  }

  /** The leases go too. */
  wipe(): void {
    this.putBack(new Map());
    this.#leases = new MemoryLeases(this.#clock);
    for (const [group, onChange] of this.#watchers) this.#leases.watch(group, onChange);
  }

  /** The store as one process uses it: it commits only onto what it left. */
  connect(): Store {
    const left = new Map<string, number>();
    const put = (name: string, scope: Omit<Scope, 'version'>): void => {
      this.#version += 1;
      this.#scopes.set(name, { ...scope, version: this.#version });
      left.set(name, this.#version);
    };
    return {
      claim: async (name, epoch) => {
        const scope = this.#scopes.get(name);
        if (scope !== undefined && epoch < scope.epoch) throw new FencedError(`${name}: epoch ${epoch} is over`);
        put(name, { ...(scope ?? nothing), epoch });
        return stateOf(scope, this.#incarnation);
      },
      commit: async (commit) => {
        const scope = this.#scopes.get(commit.scope);
        if (scope === undefined || scope.version !== left.get(commit.scope) || scope.epoch !== commit.fencingToken) {
          throw new FencedError(`${commit.scope}: not as epoch ${commit.fencingToken} left it`);
        }
        if ((scope.checkpoint?.offset ?? 0) !== commit.expectedOffset) {
          throw new FencedError(`${commit.scope}: offset ${scope.checkpoint?.offset}, not ${commit.expectedOffset}`);
        }
        put(commit.scope, { ...committed(scope, commit), incarnation: this.#incarnation });
        this.#observer.committed(commit);
      },
      find: async (name, prefix) =>
        stateOf(this.#scopes.get(name), this.#incarnation).entries.filter(({ field }) => field.startsWith(prefix)),
      setIfAbsent: async (name, value) => {
        const settled = this.#settled.get(name) ?? value;
        this.#settled.set(name, settled);
        return settled;
      },
      checkpoint: async (name) => this.#scopes.get(name)?.checkpoint ?? null,
    };
  }

  get leases(): Leases {
    return {
      heartbeat: async (heartbeat: Heartbeat): Promise<GroupState> => {
        const state = await this.#leases.heartbeat(heartbeat);
        this.#observer.group(heartbeat.group, state);
        return state;
      },
      leave: (group, member) => this.#leases.leave(group, member),
      state: (group) => this.#leases.state(group),
      watch: (group, onChange) => {
        const watcher = [group, onChange] as const;
        this.#watchers.add(watcher);
        const stop = this.#leases.watch(group, onChange);
        return () => {
          this.#watchers.delete(watcher);
          stop();
        };
      },
    };
  }
}

function stateOf(scope: Scope | undefined, incarnation: number): ScopeState {
  if (!scope?.checkpoint) return { checkpoint: null, intact: false, entries: [] };
  const entries = [...scope.entries].map(([name, json]): StoredEntry => {
    const [key = '', field = ''] = name.split('\n');
    return { key, field, value: JSON.parse(json) };
  });
  return { checkpoint: scope.checkpoint, intact: scope.incarnation === incarnation, entries };
}

function committed(scope: Scope, { fencingToken, checkpoint, entries: changed }: Commit): Scope {
  const entries = new Map(scope.entries);
  for (const { key, field, value } of changed) {
    if (value === undefined) entries.delete(`${key}\n${field}`);
    else entries.set(`${key}\n${field}`, JSON.stringify(value));
  }
  return { ...scope, epoch: fencingToken, checkpoint, entries };
}
