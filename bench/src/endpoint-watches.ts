import { errorMessage } from '@sluice/runtime';
import type { ApiClient } from './api-client.ts';
import { type PodReadinessEvent, parseEvent } from './pod-readiness-event.ts';
import { NAMESPACE, type Shape } from './shape.ts';

const SLICES = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`;
const ENDPOINTS = `/api/v1/namespaces/${NAMESPACE}/endpoints`;

/** Called for each event with the arrival time of its last byte. */
export type Listener = (event: PodReadinessEvent, at: number) => void;

/**
 * The bench's own watches of EndpointSlices and Endpoints, as kube-proxy has them. The API server ends a watch whose client
 * falls behind, e.g. at saturation; like any client, this one resumes at the last event.
 */
export class EndpointWatches {
  listener: Listener = () => {};
  /** Arrival of the last event, on the clock of `performance.now()`. */
  lastEventAt = performance.now();
  readonly #ending = new AbortController();
  #failure: Error | undefined;

  /** Lists, then watches from that resourceVersion. User-managed Endpoints are not watched. */
  static async open(client: ApiClient, { custom }: Shape): Promise<EndpointWatches> {
    const watches = new EndpointWatches();
    for (const path of custom ? [SLICES] : [SLICES, ENDPOINTS]) {
      const { metadata, items } = JSON.parse((await client.get(path)).body);
      if (items?.length > 0) throw new Error(`${path}: the cluster is not empty`);
      watches.#watch(client, path, metadata.resourceVersion);
    }
    return watches;
  }

  #watch(client: ApiClient, path: string, from: string): void {
    let version = from;
    const reader = this.#reader((seen) => {
      version = seen;
    });
    const resume = (why: string) => {
      if (version === from) return this.#fail(why);
      process.stderr.write(`${why}; resuming\n`);
      this.#watch(client, path, version);
    };
    const query = `watch=1&timeoutSeconds=7200&resourceVersion=${from}`;
    client.stream(`${path}?${query}`, this.#ending.signal, reader, resume);
  }

  /** @throws Error if a watch broke off, since the measurement is then invalid */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  close(): void {
    this.#ending.abort();
  }

  #reader(seen: (resourceVersion: string) => void): (chunk: Buffer) => void {
    let rest: Buffer[] = [];
    return (chunk) => {
      const at = performance.now();
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        const part = chunk.subarray(start, end);
        this.#line((rest.length === 0 ? part : Buffer.concat([...rest, part])).toString(), at, seen);
        rest = [];
        start = end + 1;
      }
      if (start < chunk.length) rest.push(chunk.subarray(start));
    };
  }

  #line(line: string, at: number, seen: (resourceVersion: string) => void): void {
    try {
      const event = parseEvent(line);
      if (event === undefined) return;
      seen(event.resourceVersion);
      this.lastEventAt = at;
      this.listener(event, at);
    } catch (error) {
      this.#fail(errorMessage(error));
    }
  }

  #fail(why: string): void {
    this.#failure ??= new Error(why);
  }
}
