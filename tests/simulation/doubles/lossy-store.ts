import type { Clock, Random } from '@sluice/platform';
import {
  type Checkpoint,
  type Commit,
  FencedError,
  type Leases,
  MemoryLeases,
  type ScopeState,
  type Store,
  type StoredEntry,
} from '@sluice/store';
import {
  type ConnectedStore,
  exchange,
  observedLeases,
  type SimulatedStore,
  type StoreBackup,
  type StoreObserver,
} from './simulated-store.ts';

/** A backup shares it with the store, which copies the entries before the next commit. */
interface Scope {
  readonly epoch: number;
  /** Increases with each claim and commit. */
  readonly version: number;
  /** Identity of the server at the last commit. */
  readonly generation: number;
  readonly checkpoint: Checkpoint | null;
  /** JSON by key and field. */
  readonly entries: Map<string, string>;
}

export interface LossyStoreOptions {
  readonly clock: Clock;
  readonly observer: StoreObserver;
  /** False: commits of former owners succeed. */
  readonly fencing: boolean;
}

const nothing = (): Omit<Scope, 'epoch' | 'version'> => ({ generation: 0, checkpoint: null, entries: new Map() });

/** A store with the guarantees of Redis (ADR 0012) that can be restarted, wiped and restored. */
export class LossyStore implements SimulatedStore {
  readonly #options: LossyStoreOptions;
  readonly #values = new Map<string, string>();
  readonly #watchers = new Set<readonly [group: string, onChange: () => void]>();
  #scopes = new Map<string, Scope>();
  /** Entries that a backup has too. */
  readonly #shared = new WeakSet<ReadonlyMap<string, string>>();
  #leases: MemoryLeases;
  #generation = 1;
  #version = 0;

  constructor(options: LossyStoreOptions) {
    this.#options = options;
    this.#leases = new MemoryLeases(options.clock);
  }

  get scopes(): readonly string[] {
    return [...this.#scopes.keys()];
  }

  entries(scope: string): ReadonlyMap<string, string> {
    return this.#scopes.get(scope)?.entries ?? new Map();
  }

  checkpoint(scope: string): Checkpoint | null {
    return this.#scopes.get(scope)?.checkpoint ?? null;
  }

  restart(): void {
    this.#generation += 1;
  }

  backup(): StoreBackup {
    const backup = new Map(this.#scopes);
    const leases = this.#leases.copy();
    for (const { entries } of backup.values()) this.#shared.add(entries);
    return {
      restore: () => {
        this.restart();
        this.#scopes = new Map(backup);
        this.#replaceLeases(leases.copy());
      },
      restoreScope: (name) => {
        this.restart();
        const scope = backup.get(name);
        if (scope === undefined) this.#scopes.delete(name);
        else this.#scopes.set(name, scope);
      },
    };
  }

  corrupt(name: string, random: Random): void {
    const scope = this.#scopes.get(name);
    if (scope === undefined) return;
    // The few that concern the whole scope are as likely as the many of Services.
    const all = [...scope.entries.keys()];
    const ofScope = all.filter((name) => /^(?:scope|partition)\n/.test(name));
    const fields = ofScope.length > 0 && random.next() < 0.5 ? ofScope : all;
    const field = fields[Math.floor(random.next() * fields.length)];
    if (field === undefined) return;
    const entries = new Map(scope.entries).set(field, '{"unreadable":1}');
    this.#scopes.set(name, { ...scope, entries });
  }

  replaceValue(name: string, random: Random): void {
    const scope = this.#scopes.get(name);
    const changed = exchange(scope?.entries ?? new Map<string, string>(), random);
    if (scope === undefined || changed === undefined) return;
    this.#scopes.set(name, { ...scope, entries: new Map(scope.entries).set(...changed) });
    this.#options.observer.replaced(name, ...changed);
  }

  wipe(): void {
    this.restart();
    this.#scopes = new Map();
    this.loseLeases();
  }

  loseLeases(): void {
    this.#replaceLeases(new MemoryLeases(this.#options.clock));
  }

  #replaceLeases(leases: MemoryLeases): void {
    this.#leases = leases;
    for (const [group, onChange] of this.#watchers) this.#leases.watch(group, onChange);
  }

  connect(member: string): ConnectedStore {
    return { store: this.#store(member), leases: observedLeases(this.#observableLeases(), this.#options.observer) };
  }

  /** The store of one process, which commits only onto its own last write. */
  #store(member: string): Store {
    const { observer, fencing } = this.#options;
    const left = new Map<string, { readonly fencingToken: number; readonly version: number }>();
    const put = (name: string, scope: Omit<Scope, 'version'>): void => {
      this.#version += 1;
      this.#scopes.set(name, { ...scope, version: this.#version });
      left.set(name, { fencingToken: scope.epoch, version: this.#version });
    };
    return {
      claim: async (name, epoch) => {
        observer.claimed(member, name, epoch);
        const scope = this.#scopes.get(name);
        if (fencing && scope !== undefined && epoch < scope.epoch)
          throw new FencedError(`${name}: fencing token ${epoch} is outdated`);
        put(name, { ...(scope ?? nothing()), epoch });
        const state = stateOf(scope, this.#generation);
        observer.restored(member, name, state);
        return state;
      },
      commit: async (commit) => {
        const scope = this.#scopes.get(commit.scope) ?? { ...nothing(), epoch: 0, version: 0 };
        const { fencingToken, expectedOffset } = commit;
        if (fencing && scope.epoch > fencingToken)
          throw new FencedError(`${commit.scope}: fencing token ${fencingToken} is outdated`);
        const offset = scope.checkpoint?.offset ?? 0;
        if (offset !== expectedOffset)
          throw new FencedError(`${commit.scope}: offset ${offset}, not ${expectedOffset}`);
        // As in Redis, a member that has not claimed the scope under this token commits without this check.
        const known = left.get(commit.scope);
        if (fencing && known?.fencingToken === fencingToken && known.version !== scope.version)
          throw new FencedError(`${commit.scope}: changed since the last write with fencing token ${fencingToken}`);
        const entries = this.#shared.has(scope.entries) ? new Map(scope.entries) : scope.entries;
        put(commit.scope, { ...committed({ ...scope, entries }, commit), generation: this.#generation });
        observer.committed(member, commit, scope.checkpoint);
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

  /** Leases that can be lost. */
  #observableLeases(): Leases {
    return {
      heartbeat: (heartbeat) => this.#leases.heartbeat(heartbeat),
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
    const at = name.indexOf('\n');
    return { key: name.slice(0, at), field: name.slice(at + 1), value: JSON.parse(json) };
  });
  return { checkpoint: scope.checkpoint, intact: scope.generation === generation, entries };
}

function committed(scope: Scope, { fencingToken, checkpoint, entries: changed }: Commit): Scope {
  const { entries } = scope;
  for (const { key, field, value } of changed) {
    if (value === undefined) entries.delete(`${key}\n${field}`);
    else entries.set(`${key}\n${field}`, JSON.stringify(value));
  }
  return { ...scope, epoch: fencingToken, checkpoint };
}
