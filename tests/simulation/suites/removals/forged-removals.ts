import {
  type ClusterReader,
  chainReader,
  type ListPage,
  mapWatch,
  type RawObject,
  type WatchEvent,
  type WatchStream,
} from '@sluice/kubernetes';
import { asRecord } from '@sluice/platform';

interface OpenWatch {
  readonly resource: string;
  readonly forged: WatchEvent[];
  wake: () => void;
}

function nameOf(object: RawObject): string {
  const { namespace = '', name = '' } = asRecord(object.metadata);
  return `${namespace}/${name}`;
}

/** A server in front of the API server whose lists and watches lack objects that exist. */
export class ForgedRemovals {
  readonly #watches = new Set<OpenWatch>();
  /** By resource. */
  readonly #hidden = new Map<string, ReadonlySet<string>>();

  get isActive(): boolean {
    return this.#hidden.size > 0;
  }

  /** Lists lack these objects. If `areReported`, open watches report that they are deleted. */
  hide(resource: string, objects: readonly RawObject[], areReported: boolean): void {
    this.#hidden.set(resource, new Set(objects.map(nameOf)));
    if (!areReported) return;
    for (const watch of this.#watches) {
      if (watch.resource !== resource) continue;
      watch.forged.push(...objects.map((object): WatchEvent => ({ type: 'DELETED', object })));
      watch.wake();
    }
  }

  end(): void {
    this.#hidden.clear();
  }

  reader(reader: ClusterReader): ClusterReader {
    return chainReader(reader, async (request, next) => {
      const response = await next(request);
      const { resource } = request as { readonly resource: string };
      if (request.verb !== 'list') return mapWatch(request, response, (stream) => this.#events(resource, stream));
      const page = response as ListPage;
      const items = page.items.filter((object) => !this.#isHidden(resource, object));
      return { ...page, items } as ListPage as typeof response;
    });
  }

  #isHidden(resource: string, object: RawObject): boolean {
    return this.#hidden.get(resource)?.has(nameOf(object)) ?? false;
  }

  async *#events(resource: string, stream: WatchStream): WatchStream {
    const watch: OpenWatch = { resource, forged: [], wake: () => {} };
    this.#watches.add(watch);
    const events = stream[Symbol.asyncIterator]();
    try {
      for (let next = events.next(); ; ) {
        const woken = new Promise<undefined>((resolve) => {
          watch.wake = () => resolve(undefined);
        });
        const arrived = watch.forged.length > 0 ? undefined : await Promise.race([next, woken]);
        if (watch.forged.length > 0) yield watch.forged.splice(0);
        if (arrived === undefined) continue;
        if (arrived.done) return;
        next = events.next();
        yield arrived.value.filter((event) => event.type === 'BOOKMARK' || !this.#isHidden(resource, event.object));
      }
    } finally {
      this.#watches.delete(watch);
      void events.return?.();
    }
  }
}
