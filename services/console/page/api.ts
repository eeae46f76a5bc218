import type {
  DrainView,
  HistoryView,
  LogicalServiceDetail,
  LogicalServiceList,
  NodeDisruptionView,
  Overview,
  ProblemCounts,
  PropagationView,
  ReadinessChangesView,
  RecentChange,
  RolloutView,
  ServiceDetail,
  ServiceList,
  ServiceOutage,
  ServiceProblem,
  TraceView,
} from '../src/view/schemas.ts';
import { setClusterNames } from './cluster-names.ts';

/** A failed request, with a message and a hint for people. */
export class ApiProblem extends Error {
  readonly hint: string;
  /** HTTP status; 0 if there was no response. */
  readonly status: number;

  constructor(message: string, hint = '', status = 0) {
    super(message);
    this.hint = hint;
    this.status = status;
  }

  static from(error: unknown): ApiProblem {
    return error instanceof ApiProblem ? error : new ApiProblem(String(error));
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
  let body: unknown;
  try {
    response = await fetch(url, { signal: signal ?? null });
    // The body of an error may be that of a proxy. One that is cut off is no answer.
    body = await (response.ok ? response.json() : response.json().catch(() => ({})));
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiProblem('Sluice does not answer', 'Check that it is running. This page retries automatically.');
  }
  if (response.ok) return body as T;
  const { error = `HTTP status ${response.status}`, hint } = body as { error?: string; hint?: string };
  throw new ApiProblem(error, hint, response.status);
}

const pathOf = ({ cluster, namespace, name }: ServiceName): string =>
  `services/${[cluster, namespace, name].map(encodeURIComponent).join('/')}`;

interface Items<T> {
  readonly items: readonly T[];
}

export const api = {
  async overview(signal?: AbortSignal): Promise<Overview> {
    const overview = await get<Overview>('overview', {}, signal);
    setClusterNames(overview.clusters);
    return overview;
  },
  services: (query: Query, signal?: AbortSignal) => get<ServiceList>('services', query, signal),
  service: (service: ServiceName, at: number | undefined, signal?: AbortSignal) =>
    get<ServiceDetail>(pathOf(service), { at }, signal),
  history: (service: ServiceName, query: Query, signal?: AbortSignal) =>
    get<HistoryView>(`${pathOf(service)}/history`, query, signal),
  logicalServices: (query: Query, signal?: AbortSignal) => get<LogicalServiceList>('logical-services', query, signal),
  logicalService: (namespace: string, name: string, query: Query, signal?: AbortSignal) =>
    get<LogicalServiceDetail>(`logical-services/${[namespace, name].map(encodeURIComponent).join('/')}`, query, signal),
  changes: (limit: number, signal?: AbortSignal) => get<Items<RecentChange>>('changes', { limit }, signal),
  trace: (traceId: string, signal?: AbortSignal) => get<TraceView>(`traces/${encodeURIComponent(traceId)}`, {}, signal),
  rollout: (service: ServiceName, query: Query, signal?: AbortSignal) =>
    get<RolloutView>(`${pathOf(service)}/rollout`, query, signal),
  problems: (query: Query, signal?: AbortSignal) => get<Items<ServiceProblem>>('problems', query, signal),
  problemCounts: (query: Query, signal?: AbortSignal) => get<ProblemCounts>('problem-counts', query, signal),
  outages: (query: Query, signal?: AbortSignal) => get<Items<ServiceOutage>>('outages', query, signal),
  propagations: (query: Query, signal?: AbortSignal) => get<Items<PropagationView>>('propagations', query, signal),
  readinessChanges: (query: Query, signal?: AbortSignal) =>
    get<Items<ReadinessChangesView>>('readiness-changes', query, signal),
  drains: (query: Query, signal?: AbortSignal) => get<Items<DrainView>>('drains', query, signal),
  nodeDisruptions: (query: Query, signal?: AbortSignal) =>
    get<Items<NodeDisruptionView>>('node-disruptions', query, signal),
  items: <T>(what: 'partitions' | 'parked' | 'dead-letters', signal?: AbortSignal) => get<Items<T>>(what, {}, signal),
};
