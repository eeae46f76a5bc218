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

/** Immutable, so that a backup is a copy of the map. */
interface Scope {
  readonly epoch: number;
  /** Increases with each claim and commit. */
  readonly version: number;
  /** Identity of the server at the last commit. */
  readonly generation: number;
  readonly checkpoint: Checkpoint | null;
  /** JSON by key and field. */
  readonly entries: ReadonlyMap<string, string>;
}

export interface StoreObserver {
  committed(commit: Commit): void;
  group(name: string, state: GroupState): void;
}

export type Backup = ReadonlyMap<string, Scope>;

const nothing: Omit<Scope, 'epoch' | 'version'> = {
  generation: 0,
  checkpoint: null,
  entries: new Map(),
};

/** A store with the guarantees of Redis (ADR 0012) that can be restarted, wiped and restored. */
export class LossyStore {
  readonly #observer: StoreObserver;
  readonly #clock: Clock;
  readonly #values = new Map<string, string>();
  readonly #watchers = new Set<readonly [group: string, onChange: () => void]>();
  #scopes = new Map<string, Scope>();
  #leases: MemoryLeases;
  #generation = 1;
  #version = 0;

  constructor(clock: Clock, observer: StoreObserver) {
    this.#clock = clock;
    this.#leases = new MemoryLeases(clock);
    this.#observer = observer;
  }

  /** Loses nothing, but claims report possible losses. */
  restart(): void {
    this.#generation += 1;
  }

  backup(): Backup {
    return new Map(this.#scopes);
  }

  restore(backup: Backup): void {
    this.restart();
    this.#scopes = new Map(backup);
  }

  /** Loses the leases as well. */
  wipe(): void {
    this.restore(new Map());
    this.#leases = new MemoryLeases(this.#clock);
    for (const [group, onChange] of this.#watchers) this.#leases.watch(group, onChange);
  }

  /** The store of one process, which commits only onto its own last write. */
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
        if (scope !== undefined && epoch < scope.epoch)
          throw new FencedError(`${name}: fencing token ${epoch} is outdated`);
        put(name, { ...(scope ?? nothing), epoch });
        return stateOf(scope, this.#generation);
      },
      commit: async (commit) => {
        const scope = this.#scopes.get(commit.scope);
        if (scope === undefined || scope.version !== left.get(commit.scope) || scope.epoch !== commit.fencingToken) {
          throw new FencedError(
            `${commit.scope}: changed since the last write with fencing token ${commit.fencingToken}`,
          );
        }
        if ((scope.checkpoint?.offset ?? 0) !== commit.expectedOffset) {
          throw new FencedError(`${commit.scope}: offset ${scope.checkpoint?.offset}, not ${commit.expectedOffset}`);
        }
        put(commit.scope, { ...committed(scope, commit), generation: this.#generation });
        this.#observer.committed(commit);
      },
      find: async (name, prefix) =>
        stateOf(this.#scopes.get(name), this.#generation).entries.filter(({ field }) => field.startsWith(prefix)),
      setIfAbsent: async (name, value) => {
        const stored = this.#values.get(name) ?? value;
        this.#values.set(name, stored);
        return stored;
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

function stateOf(scope: Scope | undefined, generation: number): ScopeState {
  if (!scope?.checkpoint) return { checkpoint: null, intact: false, entries: [] };
  const entries = [...scope.entries].map(([name, json]): StoredEntry => {
    const [key = '', field = ''] = name.split('\n');
    return { key, field, value: JSON.parse(json) };
  });
  return { checkpoint: scope.checkpoint, intact: scope.generation === generation, entries };
}

function committed(scope: Scope, { fencingToken, checkpoint, entries: changed }: Commit): Scope {
  const entries = new Map(scope.entries);
  for (const { key, field, value } of changed) {
    if (value === undefined) entries.delete(`${key}\n${field}`);
    else entries.set(`${key}\n${field}`, JSON.stringify(value));
  }
  return { ...scope, epoch: fencingToken, checkpoint, entries };
}
