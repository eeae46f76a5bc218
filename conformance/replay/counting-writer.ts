import type { ClusterWriter } from '@sluice/kubernetes';

export interface WriteCounts {
  create: number;
  update: number;
  delete: number;
}

/** Counts the requests that a writer sends, failed ones included. */
export class CountingWriter implements ClusterWriter {
  readonly #inner: ClusterWriter;
  readonly #created: string[] = [];
  #counts: WriteCounts = { create: 0, update: 0, delete: 0 };

  constructor(inner: ClusterWriter) {
    this.#inner = inner;
  }

  /** Requests since this was last asked. */
  take(): WriteCounts {
    const counts = this.#counts;
    this.#counts = { create: 0, update: 0, delete: 0 };
    return counts;
  }

  get: ClusterWriter['get'] = (...args) => this.#inner.get(...args);

  /** Names of slices that were created, with their namespaces, in order. */
  get created(): readonly string[] {
    return this.#created;
  }

  create: ClusterWriter['create'] = async (...args) => {
    this.#counts.create++;
    const written = await this.#inner.create(...args);
    const { namespace, name } = args[1].metadata;
    this.#created.push(`${namespace}/${name}`);
    return written;
  };

  update: ClusterWriter['update'] = (...args) => {
    this.#counts.update++;
    return this.#inner.update(...args);
  };

  delete: ClusterWriter['delete'] = (...args) => {
    this.#counts.delete++;
    return this.#inner.delete(...args);
  };
}
