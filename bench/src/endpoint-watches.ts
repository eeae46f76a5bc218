import { errorMessage } from '@sluice/platform';
import type { ApiClient } from './api-client.ts';
import { type PodReadinessEvent, parseEvent } from './pod-readiness-event.ts';
import { isBenchNamespace, type Shape } from './shape.ts';

const SLICES = '/apis/discovery.k8s.io/v1/endpointslices';
const ENDPOINTS = '/api/v1/endpoints';

type Items = readonly { readonly metadata: { readonly namespace: string } }[] | undefined;

/** Called for each event with the arrival time of its last byte. */
export type Listener = (event: PodReadinessEvent, at: number) => void;

/**
 * The bench's own watches of EndpointSlices and Endpoints, as kube-proxy has them. The API server ends a watch whose client
 * falls behind, e.g. at saturation; like any client, this one resumes at the last event.
 */
export class EndpointWatches {
  listener: Listener = () => {};
  /**
   * If set, gets the lines of Endpoints instead of the listener, not parsed. A line of 1,000 addresses takes milliseconds to parse, in
   * which the bench notices no other event, and a controller that writes Endpoints more often would look slower.
   */
  endpointsListener: ((line: Buffer, at: number) => void) | undefined;
  /** Arrival of the last event, on the clock of `performance.now()`. */
  lastEventAt = performance.now();
  readonly #ending = new AbortController();
  #failure: Error | undefined;

  /** Lists, then watches from that resourceVersion. User-managed Endpoints are not watched. */
  static async open(client: ApiClient, { custom }: Shape): Promise<EndpointWatches> {
    const watches = new EndpointWatches();
    for (const path of custom ? [SLICES] : [SLICES, ENDPOINTS]) {
      const { metadata, items } = JSON.parse((await client.get(path)).body);
      const own = (items as Items)?.some((item) => isBenchNamespace(item.metadata.namespace));
      if (own) throw new Error(`${path}: the cluster is not empty`);
      watches.#watch(client, path, metadata.resourceVersion);
    }
    return watches;
  }

  #watch(client: ApiClient, path: string, from: string): void {
    let last: Buffer | undefined;
    const reader = this.#reader((line, at) => {
      last = line;
      if (path === ENDPOINTS && this.endpointsListener !== undefined) {
        this.lastEventAt = at;
        this.endpointsListener(line, at);
      } else {
        this.#line(line, at);
      }
    });
    const resume = (why: string) => {
      const event = last && parseEvent(last.toString());
      if (event === undefined) return this.#fail(why);
      process.stderr.write(`${why}; resuming\n`);
      this.#watch(client, path, event.resourceVersion);
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

  #reader(onLine: (line: Buffer, at: number) => void): (chunk: Buffer) => void {
    let rest: Buffer[] = [];
    return (chunk) => {
      const at = performance.now();
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        const part = chunk.subarray(start, end);
        onLine(rest.length === 0 ? part : Buffer.concat([...rest, part]), at);
        rest = [];
        start = end + 1;
      }
      if (start < chunk.length) rest.push(chunk.subarray(start));
    };
  }

  #line(line: Buffer, at: number): void {
    try {
      const event = parseEvent(line.toString());
      if (event === undefined || !isBenchNamespace(event.namespace)) return;
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
