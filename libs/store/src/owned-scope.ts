import type { Checkpoint, Store, StoredEntry } from './store.ts';

interface OwnedScopeOptions {
  readonly store: Store;
  readonly scope: string;
  readonly fencingToken: number;
  /**
   * Version of the form in which the owner stores entries: their fields and the shapes of their values. What a program of
   * another version has stored is unreadable, older or newer. A program may therefore change the form, if it raises the
   * version.
   */
  readonly formatVersion: number;
}

/** What previous owners have left. */
export interface InheritedScope {
  /** Nothing was ever committed, as far as the store knows. */
  readonly isNew: boolean;
  /** See ScopeState. */
  readonly intact: boolean;
  readonly entries: readonly StoredEntry[];
  /** False if they were stored in the form of another version. */
  readonly isReadable: boolean;
}

const versionField = { key: 'scope', field: 'formatVersion' } as const;
const nothing: Checkpoint = { offset: 0, id: '', streamId: '' };

/** The owner's side of a scope: claims it, and commits on top of the last checkpoint that it knows. */
export class OwnedScope {
  readonly #options: OwnedScopeOptions;
  #checkpoint = nothing;
  #stored: readonly StoredEntry[] = [];
  #hasVersion = false;
  /** What the next commit removes first. */
  #discarded: readonly StoredEntry[] = [];

  constructor(options: OwnedScopeOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.scope;
  }

  /** As of the last claim or commit. */
  get checkpoint(): Checkpoint {
    return this.#checkpoint;
  }

  /** Throws FencedError if the scope is claimed under a higher token. */
  async claim(): Promise<InheritedScope> {
    const { store, scope, fencingToken, formatVersion } = this.#options;
    const { checkpoint, intact, entries } = await store.claim(scope, fencingToken);
    this.#checkpoint = checkpoint ?? nothing;
    const version = entries.find(isVersion)?.value;
    this.#hasVersion = version === formatVersion;
    this.#stored = entries.filter((entry) => !isVersion(entry));
    const isReadable = this.#hasVersion || entries.length === 0;
    return { isNew: checkpoint === null, intact, entries: this.#stored, isReadable };
  }

  /** The next commit removes all entries that the claim found. */
  discard(): void {
    this.#discarded = this.#stored.map(({ key, field }) => ({ key, field, value: undefined }));
  }

  /** Does nothing if that would change nothing. Throws as Store.commit() does. */
  async commit(checkpoint: Checkpoint, changed: readonly StoredEntry[]): Promise<void> {
    const { store, scope, fencingToken, formatVersion } = this.#options;
    const discarded = this.#discarded;
    const entries = discarded.length === 0 ? changed : [...discarded, ...changed];
    if (entries.length === 0 && checkpoint === this.#checkpoint) return;
    const isMarked = this.#hasVersion || entries.length > 0;
    await store.commit({
      scope,
      fencingToken,
      expectedOffset: this.#checkpoint.offset,
      checkpoint,
      entries: isMarked === this.#hasVersion ? entries : [...entries, { ...versionField, value: formatVersion }],
    });
    this.#checkpoint = checkpoint;
    this.#hasVersion = isMarked;
    if (this.#discarded === discarded) this.#discarded = [];
  }
}

const isVersion = ({ key, field }: StoredEntry): boolean => key === versionField.key && field === versionField.field;
