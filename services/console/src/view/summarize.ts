import { serviceReason } from '../explain/service-reason.ts';
import { leftOutPods } from '../explain/traffic.ts';
import type { HistoryState } from '../history/history-state.ts';
import type { Entry } from './entry-schemas.ts';
import type { ServiceSummary } from './schemas.ts';
import { countEndpoints, type DegradedPolicy, defaultDegradedPolicy, statusAt } from './service-status.ts';
import { type WriteInHistory, writesIn } from './writes-in.ts';

/** A Service at the time `at`. */
export interface SummarizedMoment {
  readonly at: number;
  readonly state: HistoryState;
  readonly entries: readonly Entry[];
}

interface Summary {
  readonly summary: ServiceSummary;
  /** When the status changes although nothing happens, in milliseconds since the Unix epoch. */
  readonly until: number;
}

/** Summarizes a Service. Endpoints are counted in the slices, as a proxy does. */
export function summarize(
  { at, state, entries }: SummarizedMoment,
  clusterName: string,
  policy: DegradedPolicy = defaultDegradedPolicy,
): Summary {
  const counts = countEndpoints(state);
  const { status, problem, until } = statusAt(state, counts, at, policy);
  const leftOut = leftOutPods(state);
  const last = lastWrite(entries);
  const { cluster, namespace, service: name } = state.key;
  const summary = {
    ...{ cluster, clusterName, namespace, name, status, problem },
    reason: serviceReason(state, status, problem),
    pods: state.pods.size,
    ...counts,
    ...(leftOut > 0 && { leftOut }),
    lastChangeAt: last?.at ?? null,
    lastLatencyMs: last?.latencyMs ?? null,
  };
  return { summary, until };
}

function lastWrite(entries: readonly Entry[]): WriteInHistory | undefined {
  const isApplied = (write: WriteInHistory) => write.isApplied;
  const entry = entries.findLast((one) => writesIn(one).some(isApplied));
  return entry && writesIn(entry).findLast(isApplied);
}
