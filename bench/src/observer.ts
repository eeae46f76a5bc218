import type { ApiClient } from './api-client.ts';
import { NAMESPACE } from './shape.ts';
import { parseSighting, type Sighting } from './sighting.ts';

const PATHS = [
  `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`,
  `/api/v1/namespaces/${NAMESPACE}/endpoints`,
];

/** Told of each event, and when its last byte arrived. */
export type Listener = (sighting: Sighting, at: number) => void;

/** The bench's own watches of EndpointSlices and Endpoints, as a kube-proxy would have them. */
export class Observer {
  listener: Listener = () => {};
  /** When the last event arrived, on the clock of `performance.now()`. */
  lastEventAt = performance.now();
  readonly #ending = new AbortController();
  #failure: Error | undefined;

  /** Lists, then watches from there: nothing is lost in between. */
  static async open(client: ApiClient): Promise<Observer> {
    const observer = new Observer();
    for (const path of PATHS) {
      const { metadata, items } = JSON.parse((await client.get(path)).body);
      if (items?.length > 0) throw new Error(`${path}: something is there already`);
      const query = `watch=1&timeoutSeconds=7200&resourceVersion=${metadata.resourceVersion}`;
      client.stream(`${path}?${query}`, observer.#ending.signal, observer.#reader(), (why) => observer.#fail(why));
    }
    return observer;
  }

  /** @throws Error when a watch has broken off: what is measured then would be wrong */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  close(): void {
    this.#ending.abort();
  }

  #reader(): (chunk: Buffer) => void {
    let rest: Buffer[] = [];
    return (chunk) => {
      const at = performance.now();
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        const part = chunk.subarray(start, end);
        this.#line((rest.length === 0 ? part : Buffer.concat([...rest, part])).toString(), at);
        rest = [];
        start = end + 1;
      }
      if (start < chunk.length) rest.push(chunk.subarray(start));
    };
  }

  #line(line: string, at: number): void {
    try {
      const sighting = parseSighting(line);
      if (sighting === undefined) return;
      this.lastEventAt = at;
      this.listener(sighting, at);
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  #fail(why: string): void {
    this.#failure ??= new Error(why);
  }
}
