import {
  type Checkpoint,
  type Commit,
  FencedError,
  type ScopeState,
  type Store,
  type StoredEntry,
  type StoredValue,
} from './store.ts';

interface Scope {
  epoch: number;
  checkpoint: Checkpoint;
  /** By key, then by field. */
  readonly values: Map<string, Map<string, StoredValue>>;
}

/** The store inside one process. It lives as long as the process does; the clusters tell the rest at the next start. */
export class MemoryStore implements Store {
  readonly #scopes = new Map<string, Scope>();
  readonly #settled = new Map<string, string>();

  async claim(name: string, epoch: number): Promise<ScopeState> {
    const scope = this.#scope(name);
    fence(name, epoch, scope);
    scope.epoch = epoch;
    return this.peek(name);
  }

  /** What the scope holds, without taking it over. */
  peek(name: string): ScopeState & { readonly checkpoint: Checkpoint } {
    const scope = this.#scope(name);
    const entries = [...scope.values].flatMap(([key, fields]) =>
      [...fields].map(([field, value]) => ({ key, field, value })),
    );
    return { checkpoint: scope.checkpoint, intact: true, entries };
  }

  async commit(commit: Commit): Promise<void> {
    const scope = this.#scope(commit.scope);
    fence(commit.scope, commit.fencingToken, scope);
    const offset = scope.checkpoint.offset;
    if (commit.expectedOffset !== offset) {
      throw new FencedError(`${commit.scope}: the checkpoint is ${offset}, not ${commit.expectedOffset}`);
    }
    scope.epoch = commit.fencingToken;
    scope.checkpoint = commit.checkpoint;
    for (const { key, field, value } of commit.entries) write(scope.values, key, field, value);
  }

  async find(name: string, prefix: string): Promise<readonly StoredEntry[]> {
    return this.peek(name).entries.filter(({ field }) => field.startsWith(prefix));
  }

  async setIfAbsent(name: string, value: string): Promise<string> {
    const settled = this.#settled.get(name) ?? value;
    this.#settled.set(name, settled);
    return settled;
  }

  async checkpoint(name: string): Promise<Checkpoint | null> {
    return this.#scopes.get(name)?.checkpoint ?? null;
  }

  #scope(name: string): Scope {
    let scope = this.#scopes.get(name);
    if (scope === undefined) {
      scope = { epoch: 0, checkpoint: { offset: 0, id: '', streamId: '' }, values: new Map() };
      this.#scopes.set(name, scope);
    }
    return scope;
  }
}

function fence(name: string, epoch: number, scope: Scope): void {
  if (epoch < scope.epoch) throw new FencedError(`${name}: epoch ${epoch} is over, ${scope.epoch} owns it`);
}

function write(values: Scope['values'], key: string, field: string, value: StoredValue): void {
  let fields = values.get(key);
  if (value === undefined) {
    fields?.delete(field);
    if (fields?.size === 0) values.delete(key);
    return;
  }
  if (fields === undefined) {
    fields = new Map();
    values.set(key, fields);
  }
  fields.set(field, value);
}
