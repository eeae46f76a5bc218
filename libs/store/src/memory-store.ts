import {
  byIdentity,
  type ClusterDirectory,
  type KnownCluster,
  type StoredDocument,
  withPauses,
} from './cluster-directory.ts';
import {
  type DeadLetter,
  type DeadLetters,
  deadLetterName,
  maxDeadLetterBytes,
  maxDeadLetters,
  type NewDeadLetter,
} from './dead-letters.ts';
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
  fencingToken: number;
  checkpoint: Checkpoint;
  /** Values by key, then by field. */
  readonly values: Map<string, Map<string, StoredValue>>;
}

/** In-process store. After a restart, the watchers' snapshots rebuild its contents. */
export class MemoryStore implements Store {
  readonly #scopes = new Map<string, Scope>();
  readonly #fleetValues = new Map<string, string>();

  async claim(name: string, fencingToken: number): Promise<ScopeState> {
    const scope = this.#scope(name);
    fence(name, fencingToken, scope);
    scope.fencingToken = fencingToken;
    return this.peek(name);
  }

  /** Reads the scope without claiming it. */
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
      throw new FencedError(
        `${commit.scope}: expected offset ${commit.expectedOffset}, but the checkpoint is at ${offset}`,
      );
    }
    scope.fencingToken = commit.fencingToken;
    scope.checkpoint = commit.checkpoint;
    for (const { key, field, value } of commit.entries) write(scope.values, key, field, value);
  }

  async find(name: string, prefix: string): Promise<readonly StoredEntry[]> {
    return this.peek(name).entries.filter(({ field }) => field.startsWith(prefix));
  }

  async setIfAbsent(name: string, value: string): Promise<string> {
    const existing = this.#fleetValues.get(name) ?? value;
    this.#fleetValues.set(name, existing);
    return existing;
  }

  async checkpoint(name: string): Promise<Checkpoint | null> {
    return this.#scopes.get(name)?.checkpoint ?? null;
  }

  #scope(name: string): Scope {
    let scope = this.#scopes.get(name);
    if (scope === undefined) {
      scope = { fencingToken: 0, checkpoint: { offset: 0, id: '', streamId: '' }, values: new Map() };
      this.#scopes.set(name, scope);
    }
    return scope;
  }
}

function fence(name: string, fencingToken: number, scope: Scope): void {
  if (fencingToken < scope.fencingToken) {
    throw new FencedError(
      `${name}: fencing token ${fencingToken} is stale; the scope is claimed under ${scope.fencingToken}`,
    );
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

/** An in-process document, for tests. */
export class MemoryDocument implements StoredDocument {
  #document: string | null = null;

  async read(): Promise<string | null> {
    return this.#document;
  }

  async replace(expected: string | null, next: string): Promise<boolean> {
    if (this.#document !== expected) return false;
    this.#document = next;
    return true;
  }
}

/** In-process cluster directory, for a fleet of one process. */
export class MemoryClusterDirectory implements ClusterDirectory {
  readonly #clusters = new Map<string, KnownCluster>();

  readonly #pauses = new Map<string, string>();

  async put({ paused: _, ...cluster }: KnownCluster): Promise<void> {
    this.#clusters.set(cluster.identity, cluster);
  }

  async setPaused(identity: string, reason: string | undefined): Promise<boolean> {
    if (reason === undefined) this.#pauses.delete(identity);
    else if (this.#clusters.has(identity)) this.#pauses.set(identity, reason);
    else return false;
    return true;
  }

  async remove(identity: string): Promise<void> {
    this.#clusters.delete(identity);
    this.#pauses.delete(identity);
  }

  async list(): Promise<readonly KnownCluster[]> {
    return withPauses(byIdentity(this.#clusters.values()), this.#pauses);
  }
}

interface MemoryDeadLettersOptions {
  /** Maximum number kept. */
  readonly max?: number;
  /** Maximum size of all payloads kept, in bytes. */
  readonly maxBytes?: number;
}

/** In-process dead letters. */
export class MemoryDeadLetters implements DeadLetters {
  readonly #letters = new Map<string, DeadLetter>();
  readonly #max: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor({ max = maxDeadLetters, maxBytes = maxDeadLetterBytes }: MemoryDeadLettersOptions = {}) {
    this.#max = max;
    this.#maxBytes = maxBytes;
  }

  async add(letter: NewDeadLetter): Promise<void> {
    const name = deadLetterName(letter);
    if (this.#letters.has(name)) return;
    this.#letters.set(name, { ...letter, name });
    this.#bytes += letter.record.payload.length;
    for (const oldest of this.#letters.keys()) {
      if (oldest === name || (this.#letters.size <= this.#max && this.#bytes <= this.#maxBytes)) return;
      await this.drop(oldest);
    }
  }

  async list(): Promise<readonly DeadLetter[]> {
    return [...this.#letters.values()];
  }

  async drop(name: string): Promise<boolean> {
    this.#bytes -= this.#letters.get(name)?.record.payload.length ?? 0;
    return this.#letters.delete(name);
  }
}
