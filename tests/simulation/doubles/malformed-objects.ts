import type { StoredObject } from '@sluice/fake-apiserver';
import {
  type ClusterReader,
  type ClusterWriter,
  chainReader,
  chainWriter,
  type ListPage,
  mapWatch,
  type RawObject,
  type WatchEvent,
  type WatchStream,
} from '@sluice/kubernetes';
import { asRecord, type Random } from '@sluice/platform';

/** Fields of which each must have another type than a text. */
const contentFields = ['spec', 'status', 'subsets', 'endpoints', 'ports'] as const;

/** Objects that an API server has stored in a form that no client can decode, as a later version of Kubernetes might. */
export class MalformedObjects {
  /** The malformed field by uid. */
  readonly #fields = new Map<string, string>();

  add(object: StoredObject, random: Random): void {
    const fields = contentFields.filter((field) => typeof object[field] === 'object' && object[field] !== null);
    const field = fields[Math.floor(random.next() * fields.length)];
    if (field !== undefined) this.#fields.set(object.metadata.uid, field);
  }

  remove({ metadata }: StoredObject): void {
    this.#fields.delete(metadata.uid);
  }

  reader(reader: ClusterReader): ClusterReader {
    return chainReader(reader, async (request, next) => {
      const response = await next(request);
      if (request.verb !== 'list') return mapWatch(request, response, (stream) => this.#events(stream));
      const page = response as ListPage;
      return { ...page, items: page.items.map((object) => this.#seen(object)) } as ListPage as typeof response;
    });
  }

  writer(writer: ClusterWriter): ClusterWriter {
    return chainWriter(writer, async (request, next) => {
      const response = await next(request);
      return request.verb === 'get' ? (this.#seen(response as RawObject) as typeof response) : response;
    });
  }

  async *#events(stream: WatchStream): WatchStream {
    for await (const events of stream) {
      yield events.map(
        (event): WatchEvent => (event.type === 'BOOKMARK' ? event : { ...event, object: this.#seen(event.object) }),
      );
    }
  }

  #seen(object: RawObject): RawObject {
    if (this.#fields.size === 0) return object;
    const field = this.#fields.get(String(asRecord(object.metadata).uid));
    return field === undefined ? object : { ...object, [field]: 'malformed' };
  }
}
