import { asRecord } from '@sluice/platform';
import { fetchFailure } from '../ports.ts';
import type { Entry } from '../view/entry-schemas.ts';
import type {
  ActivityList,
  DrainView,
  HistoryView,
  LogicalServiceDetail,
  LogicalServiceList,
  NodeDisruptionView,
  Overview,
  ParkedView,
  PodDetail,
  PropagationView,
  ReadinessChangesView,
  RolloutView,
  ServiceDetail,
  ServiceList,
  ServiceLogView,
  ServiceOutage,
  ServiceProblem,
  TraceView,
} from '../view/schemas.ts';
import { parseEvents } from './parse-events.ts';

export interface ConsoleClientOptions {
  /** URL of the console, for example http://127.0.0.1:10270. */
  readonly url: string;
  readonly token?: string | undefined;
  /** Finds another address of the console once nothing answers at `url`. Default: that is an error. */
  readonly find?: (() => Promise<string>) | undefined;
  /** Wraps the wait for each answer, for example to show that it takes long. */
  readonly wait?: <T>(answer: Promise<T>) => Promise<T>;
  /** Called with what an answer lacks. Default: it is ignored. */
  readonly warn?: (text: string) => void;
}

export interface ServiceName {
  /** Name or UID. */
  readonly cluster: string;
  readonly namespace: string;
  readonly service: string;
}

export type HistoryEntry = Entry;

type Query = Readonly<Record<string, string | number | undefined>>;

/** Timeout of a request, in milliseconds. The first read of a long history replays all of it. */
const timeoutMs = 30_000;

/** Client of a console's HTTP API. Every method throws QueryError with a message for people. */
export class ConsoleClient {
  #url: string;
  #find: (() => Promise<string>) | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #wait: <T>(answer: Promise<T>) => Promise<T>;
  readonly #warn: (text: string) => void;

  constructor({ url, token, find, wait = (answer) => answer, warn = () => {} }: ConsoleClientOptions) {
    this.#warn = warn;
    this.#find = find;
    this.#url = url.replace(/(?<!\/)\/+$/, '');
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#wait = wait;
  }

  overview(): Promise<Overview> {
    return this.#get('/api/v1/overview');
  }

  services(query: Query): Promise<ServiceList> {
    return this.#get('/api/v1/services', query);
  }

  activity(query: Query): Promise<ActivityList> {
    return this.#get('/api/v1/activity', query);
  }

  logicalServices(query: Query): Promise<LogicalServiceList> {
    return this.#get('/api/v1/logical-services', query);
  }

  logicalService({ namespace, service }: Omit<ServiceName, 'cluster'>): Promise<LogicalServiceDetail> {
    return this.#get(`/api/v1/logical-services/${encodeURIComponent(namespace)}/${encodeURIComponent(service)}`);
  }

  service(name: ServiceName, at?: number): Promise<ServiceDetail> {
    return this.#get(pathOf(name), { at });
  }

  pod(name: ServiceName, pod: string, at?: number): Promise<PodDetail> {
    return this.#get(`${pathOf(name)}/pods/${encodeURIComponent(pod)}`, { at });
  }

  history(name: ServiceName, query: Query): Promise<HistoryView> {
    return this.#get(`${pathOf(name)}/history`, query);
  }

  problems(query: Query): Promise<readonly ServiceProblem[]> {
    return this.#items('/api/v1/problems', query);
  }

  outages(query: Query): Promise<readonly ServiceOutage[]> {
    return this.#items('/api/v1/outages', query);
  }

  propagations(query: Query): Promise<readonly PropagationView[]> {
    return this.#items('/api/v1/propagations', query);
  }

  rollout(name: ServiceName, query: Query): Promise<RolloutView> {
    return this.#get(`${pathOf(name)}/rollout`, query);
  }

  readinessChanges(query: Query): Promise<readonly ReadinessChangesView[]> {
    return this.#items('/api/v1/readiness-changes', query);
  }

  drains(query: Query): Promise<readonly DrainView[]> {
    return this.#items('/api/v1/drains', query);
  }

  nodeDisruptions(query: Query): Promise<readonly NodeDisruptionView[]> {
    return this.#items('/api/v1/node-disruptions', query);
  }

  log(name: ServiceName): Promise<ServiceLogView> {
    return this.#get(`${pathOf(name)}/log`);
  }

  parked(): Promise<readonly ParkedView[]> {
    return this.#items('/api/v1/parked');
  }

  trace(traceId: string): Promise<TraceView> {
    return this.#get(`/api/v1/traces/${encodeURIComponent(traceId)}`);
  }

  /**
   * Existing entries, then new ones. Ends when the connection is lost.
   *
   * @throws QueryError if the Service is unknown or the console does not answer
   */
  async *follow(name: ServiceName, query: Query): AsyncGenerator<HistoryEntry> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), timeoutMs);
    const address = this.#address(`${pathOf(name)}/history/stream`, query);
    const response = await this.#wait(this.#fetch(address, abort.signal));
    clearTimeout(timer);
    if (!response.ok || response.body === null) throw new QueryError(this.#describe(response, await bodyOf(response)));
    try {
      for await (const { name: event, data } of parseEvents(response.body)) {
        if (event === 'entry') yield JSON.parse(data) as HistoryEntry;
      }
    } catch (error) {
      // fetch reports a lost connection as TypeError; the caller reconnects.
      if (!(error instanceof TypeError)) throw error;
    }
  }

  async #items<T>(path: string, query: Query = {}): Promise<readonly T[]> {
    return (await this.#get<{ readonly items: readonly T[] }>(path, query)).items;
  }

  #get<T>(path: string, query: Query = {}): Promise<T> {
    return this.#wait(this.#read<T>(path, query));
  }

  async #read<T>(path: string, query: Query): Promise<T> {
    const response = await this.#fetch(this.#address(path, query), AbortSignal.timeout(timeoutMs));
    const body = await bodyOf(response);
    const [, warning] = /^299 - "([^"]*)"$/.exec(response.headers.get('warning') ?? '') ?? [];
    if (warning !== undefined) this.#warn(warning);
    if (response.ok && body !== undefined) return body as T;
    throw new QueryError(this.#describe(response, body));
  }

  #address(path: string, query: Query): string {
    const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    return `${path}${given.length > 0 ? `?${new URLSearchParams(given)}` : ''}`;
  }

  async #fetch(address: string, signal: AbortSignal): Promise<Response> {
    try {
      return await fetch(`${this.#url}${address}`, { headers: this.#headers, redirect: 'error', signal });
    } catch (error) {
      const find = this.#find;
      if (find !== undefined && !signal.aborted) {
        this.#find = undefined;
        this.#url = await find();
        return this.#fetch(address, signal);
      }
      throw new QueryError(
        `cannot reach a console at ${this.#url}: ${fetchFailure(error)}\n` +
          'Start "sluice run" or "sluice console", or pass --console URL.',
        { cause: error },
      );
    }
  }

  #describe({ status }: Response, body: unknown): string {
    const { error, hint } = asRecord(body) as { error?: string; hint?: string };
    if (status === 401) {
      return `${error ?? 'a token is required'} (console at ${this.#url}): pass --console-token-file FILE or set SLUICE_CONSOLE_TOKEN`;
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

/** A valid query without a result. The message says why and what to do; the exit status is 1. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  readonly code = 'QUERY';
}

export function isQueryError(error: unknown): error is QueryError {
  return error instanceof Error && 'code' in error && error.code === 'QUERY';
}
