/** A small document of the whole fleet that is replaced as a whole. */
export interface StoredDocument {
  /** Returns null if there is no document. */
  read(): Promise<string | null>;
  /** Replaces the document if it still equals `expected`; null: if there is none. Returns whether it did. */
  replace(expected: string | null, next: string): Promise<boolean>;
}

/** The pinned identities of a fleet's clusters (ADR 0053). */
export type ClusterPins = StoredDocument;
