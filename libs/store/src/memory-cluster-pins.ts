import type { ClusterPins } from './cluster-pins.ts';

/** In-process cluster pins, for tests. */
export class MemoryClusterPins implements ClusterPins {
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
