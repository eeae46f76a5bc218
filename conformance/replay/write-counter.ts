import type { Middleware } from '@sluice/kubernetes';

export interface WriteCounts {
  create: number;
  update: number;
  delete: number;
}

/** Counts the write requests that pass its middleware, including failed ones. */
export class WriteCounter {
  /** Names of the created objects with their namespaces, in order. */
  readonly created: string[] = [];
  #counts: WriteCounts = { create: 0, update: 0, delete: 0 };

  readonly middleware: Middleware = async (request, next) => {
    if (request.verb === 'create' || request.verb === 'update' || request.verb === 'delete') {
      this.#counts[request.verb]++;
    }
    const response = await next(request);
    if (request.verb === 'create') {
      const { namespace, name } = request.object.metadata;
      this.created.push(`${namespace}/${name}`);
    }
    return response;
  };

  /** Returns the number of requests since the last call. */
  drain(): WriteCounts {
    const counts = this.#counts;
    this.#counts = { create: 0, update: 0, delete: 0 };
    return counts;
  }
}
