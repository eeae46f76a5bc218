import type {
  HistoryView,
  Overview,
  RecentChange,
  ServiceDetail,
  ServiceList,
  TraceView,
  Update,
} from '../src/view/schemas.ts';

/** What the API answered instead, in words for people. */
export class ApiProblem extends Error {
  readonly hint: string;
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;

  constructor(message: string, hint = '', status = 0) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}

export interface ServiceName {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

type Query = Readonly<Record<string, string | number | undefined>>;

async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const url = new URL(`/api/v1/${path}`, location.origin);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  }
  let response: Response;
  try {
    response = await fetch(url, { signal: signal ?? null });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiProblem('Sluice does not answer', 'is it still running? This page tries again by itself');
  }
  const body: unknown = await response.json().catch(() => ({}));
  if (response.ok) return body as T;
  const { error = `status ${response.status}`, hint } = body as { error?: string; hint?: string };
  throw new ApiProblem(error, hint, response.status);
}

const pathOf = ({ cluster, namespace, name }: ServiceName): string =>
  `services/${[cluster, namespace, name].map(encodeURIComponent).join('/')}`;

export const api = {
  overview: (signal?: AbortSignal) => get<Overview>('overview', {}, signal),
  services: (query: Query, signal?: AbortSignal) => get<ServiceList>('services', query, signal),
  service: (service: ServiceName, at: number | undefined, signal?: AbortSignal) =>
    get<ServiceDetail>(pathOf(service), { at }, signal),
  history: (service: ServiceName, query: Query, signal?: AbortSignal) =>
    get<HistoryView>(`${pathOf(service)}/history`, query, signal),
  changes: (limit: number, signal?: AbortSignal) =>
    get<{ readonly items: readonly RecentChange[] }>('changes', { limit }, signal),
  trace: (traceId: string, signal?: AbortSignal) => get<TraceView>(`traces/${encodeURIComponent(traceId)}`, {}, signal),
  items: <T>(what: 'partitions' | 'parked' | 'dead-letters', signal?: AbortSignal) =>
    get<{ readonly items: readonly T[] }>(what, {}, signal),
};

const reopenMs = 3_000;

/** Calls back for each update, and whenever the connection comes or goes, for as long as the page is open. */
export function follow(onUpdate: (update: Update) => void, onState: (open: boolean) => void): void {
  const source = new EventSource('/api/v1/stream');
  source.addEventListener('open', () => onState(true));
  source.addEventListener('error', () => {
    onState(false);
    // The browser tries again after a lost connection, but gives up after an answer that is no stream.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => follow(onUpdate, onState), reopenMs);
  });
  source.addEventListener('update', (event) => onUpdate(JSON.parse(event.data) as Update));
}
