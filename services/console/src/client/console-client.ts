import type { ParkedView } from '../ports.ts';
import type { HistoryView, Overview, PodView, ServiceDetail, ServiceList, TraceView } from '../view/schemas.ts';
import { AnswerError } from './answer-error.ts';
import { eventsOf } from './event-stream.ts';

export interface ConsoleClientOptions {
  /** Of the console, such as http://127.0.0.1:10270. */
  readonly url: string;
  readonly token?: string | undefined;
}

export interface ServiceName {
  /** Name or identity. */
  readonly cluster: string;
  readonly namespace: string;
  readonly service: string;
}

export type HistoryEntry = HistoryView['entries'][number];

/** A Service that a controller has parked. */
export type Parked = ParkedView & { readonly clusterName: string };

type Query = Readonly<Record<string, string | number | undefined>>;

/** How long one answer may take, in milliseconds: the first look at a long history folds all of it. */
const timeoutMs = 30_000;

/** The HTTP API of a console. Every method throws AnswerError with what to do. */
export class ConsoleClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ url, token }: ConsoleClientOptions) {
    this.#url = url.replace(/\/+$/, '');
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  overview(): Promise<Overview> {
    return this.#get('/api/v1/overview');
  }

  services(query: Query): Promise<ServiceList> {
    return this.#get('/api/v1/services', query);
  }

  service(name: ServiceName, at?: number): Promise<ServiceDetail> {
    return this.#get(pathOf(name), { at });
  }

  pod(name: ServiceName, pod: string, at?: number): Promise<PodView> {
    return this.#get(`${pathOf(name)}/pods/${encodeURIComponent(pod)}`, { at });
  }

  history(name: ServiceName, query: Query): Promise<HistoryView> {
    return this.#get(`${pathOf(name)}/history`, query);
  }

  async parked(): Promise<readonly Parked[]> {
    const { items } = await this.#get<{ readonly items: readonly Parked[] }>('/api/v1/parked');
    return items;
  }

  trace(traceId: string): Promise<TraceView> {
    return this.#get(`/api/v1/traces/${encodeURIComponent(traceId)}`);
  }

  /**
   * What is kept of that time, then what happens, as it is learned. Ends when the connection is lost.
   *
   * @throws AnswerError if there is no such Service, or no console
   */
  async *follow(name: ServiceName, query: Query): AsyncGenerator<HistoryEntry> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timeoutMs);
    const response = await this.#ask(this.#address(`${pathOf(name)}/history/stream`, query), timeout.signal);
    clearTimeout(timer);
    if (!response.ok || response.body === null) throw new AnswerError(this.#problem(response, await bodyOf(response)));
    try {
      for await (const { name: event, data } of eventsOf(response.body)) {
        if (event === 'entry') yield JSON.parse(data) as HistoryEntry;
      }
    } catch (error) {
      // A connection that is cut is a stream that ends; that is for the caller to go on with.
      if (!(error instanceof TypeError)) throw error;
    }
  }

  async #get<T>(path: string, query: Query = {}): Promise<T> {
    const response = await this.#ask(this.#address(path, query), AbortSignal.timeout(timeoutMs));
    const body = await bodyOf(response);
    if (response.ok && body !== undefined) return body as T;
    throw new AnswerError(this.#problem(response, body));
  }

  #address(path: string, query: Query): string {
    const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    return `${this.#url}${path}${given.length > 0 ? `?${new URLSearchParams(given)}` : ''}`;
  }

  async #ask(address: string, signal: AbortSignal): Promise<Response> {
    try {
      return await fetch(address, { headers: this.#headers, redirect: 'error', signal });
    } catch (error) {
      throw new AnswerError(
        `cannot reach a console at ${this.#url}: ${reasonOf(error)}\n` +
          'Start "sluice run" or "sluice console", or pass --console URL.',
        { cause: error },
      );
    }
  }

  #problem({ status }: Response, body: unknown): string {
    const { error, hint } = (typeof body === 'object' && body !== null ? body : {}) as {
      error?: string;
      hint?: string;
    };
    if (status === 401) {
      return `the console at ${this.#url} requires a token: pass --console-token-file FILE or set SLUICE_CONSOLE_TOKEN`;
    }
    if (error === undefined) {
      return `${this.#url} is not a Sluice console (HTTP status ${status}): pass --console URL`;
    }
    return hint === undefined ? error : `${error}\n${hint.charAt(0).toUpperCase()}${hint.slice(1)}`;
  }
}

function pathOf({ cluster, namespace, service }: ServiceName): string {
  return `/api/v1/services/${[cluster, namespace, service].map(encodeURIComponent).join('/')}`;
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

/** What fetch wraps tells more than "fetch failed". */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}
