import { type Commit, FencedError, type OutboxEntry, type ScopeState, type Store, type StoredValue } from './store.ts';

interface Scope {
  epoch: number;
  checkpoint: number;
  /** By key, then by field. */
  readonly values: Map<string, Map<string, StoredValue>>;
  readonly outbox: Map<string, OutboxEntry>;
}

/** The store inside one process. It lives as long as the process does; the clusters tell the rest at the next start. */
export class MemoryStore implements Store {
  readonly #scopes = new Map<string, Scope>();

  async load(name: string): Promise<ScopeState> {
    const scope = this.#scope(name);
    const entries = [...scope.values].flatMap(([key, fields]) =>
      [...fields].map(([field, value]) => ({ key, field, value })),
    );
    return { checkpoint: scope.checkpoint, entries, outbox: [...scope.outbox.values()] };
  }

  async commit(commit: Commit): Promise<void> {
    const scope = this.#scope(commit.scope);
    if (commit.epoch < scope.epoch) {
      throw new FencedError(`${commit.scope}: epoch ${commit.epoch} is over, ${scope.epoch} owns it`);
    }
    if (commit.expected !== scope.checkpoint) {
      throw new FencedError(`${commit.scope}: checkpoint is ${scope.checkpoint}, not ${commit.expected}`);
    }
    scope.epoch = commit.epoch;
    scope.checkpoint = commit.checkpoint;
    for (const { key, field, value } of commit.entries) write(scope.values, key, field, value);
    for (const entry of commit.publish) scope.outbox.set(entry.id, entry);
    for (const id of commit.published) scope.outbox.delete(id);
  }

  #scope(name: string): Scope {
    let scope = this.#scopes.get(name);
    if (scope === undefined) {
      scope = { epoch: 0, checkpoint: 0, values: new Map(), outbox: new Map() };
      this.#scopes.set(name, scope);
    }
    return scope;
  }
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
