import type { StoredDocument } from './stored-document.ts';

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
