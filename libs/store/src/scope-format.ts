import type { StoredEntry } from './store.ts';

const key = 'scope';
const field = 'formatVersion';

/**
 * Version of the form in which an owner stores the entries of a scope: their fields and the shapes of their values. It is
 * stored with the scope. What a program of another version has stored is unreadable, older or newer: the owner discards it
 * and rebuilds the scope with a resync. A program may therefore change the form, if it raises the version.
 */
export class ScopeFormat {
  readonly #version: number;
  #isStored = false;

  constructor(version: number) {
    this.#version = version;
  }

  /** The entries of a claimed scope without the version. Undefined if they were stored in the form of another version. */
  read(entries: readonly StoredEntry[]): readonly StoredEntry[] | undefined {
    const version = entries.find(isVersion)?.value;
    this.#isStored = version === this.#version;
    if (entries.length > 0 && !this.#isStored) return undefined;
    return entries.filter((entry) => !isVersion(entry));
  }

  /** The entries to commit: these, and the version if the scope does not have it yet. */
  mark(entries: readonly StoredEntry[]): readonly StoredEntry[] {
    if (entries.length === 0 || this.#isStored) return entries;
    this.#isStored = true;
    return [...entries, { key, field, value: this.#version }];
  }
}

const isVersion = (entry: StoredEntry): boolean => entry.key === key && entry.field === field;
