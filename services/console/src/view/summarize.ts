import { controllers, isMirrorable } from '@sluice/controllers';
import {
  type Endpoints,
  endpointSliceController,
  endpointSliceMirroringController,
  managedByLabel,
  type Service,
} from '@sluice/model';
import { isReachable, trafficProblem } from '../explain/traffic.ts';
import type { HistoryState } from '../history/history-state.ts';
import type { Entry } from './entry-schemas.ts';
import type { ServiceStatus, ServiceSummary } from './schemas.ts';
import { type WriteInHistory, writesIn } from './writes-in.ts';

/** Summarizes a Service. Endpoints are counted in the slices, as a proxy does. */
export function summarize(state: HistoryState, entries: readonly Entry[], clusterName: string): ServiceSummary {
  let [endpoints, ready, slices] = [0, 0, 0];
  for (const { slice } of state.slices.values()) {
    if (!managers.has(slice.metadata.labels?.[managedByLabel] ?? '')) continue;
    slices++;
    const reachable = isReachable(state.service, slice);
    for (const { conditions } of slice.endpoints ?? []) {
      endpoints++;
      if (reachable && (conditions?.ready ?? true)) ready++;
    }
  }
  const problem = trafficProblem(state, { ready, endpoints });
  const last = lastWrite(entries);
  const { cluster, namespace, service: name } = state.key;
  return {
    cluster,
    clusterName,
    namespace,
    name,
    status: statusOf(state, { endpoints, ready, problem }),
    problem,
    pods: state.pods.size,
    endpoints,
    ready,
    slices,
    lastChangeAt: last?.at ?? null,
    lastLatencyMs: last?.latencyMs ?? null,
  };
}

function lastWrite(entries: readonly Entry[]): WriteInHistory | undefined {
  const isApplied = (write: WriteInHistory) => write.isApplied;
  const entry = entries.findLast((one) => writesIn(one).some(isApplied));
  return entry && writesIn(entry).findLast(isApplied);
}

const managers = new Set([endpointSliceController, endpointSliceMirroringController]);

/** Whether no controller writes anything for the Service. */
function isUnmanaged({ type, selector }: Service, endpoints: Endpoints | null): boolean {
  return type === 'ExternalName' || (selector === null && (endpoints === null || !isMirrorable(endpoints)));
}

type Counted = Pick<ServiceSummary, 'endpoints' | 'ready' | 'problem'>;

function statusOf(state: HistoryState, { endpoints, ready, problem }: Counted): ServiceStatus {
  if (state.isRemoved) return 'deleted';
  if (!state.isComplete) return 'unknown';
  if (state.refused.size > 0) return 'refused';
  if (controllers.some((controller) => state.planOf(controller) !== undefined)) return 'pending';
  if (state.service === null) return 'deleted';
  if (endpoints === 0 && isUnmanaged(state.service, state.endpoints)) return 'unmanaged';
  if (ready === 0) return 'empty';
  return ready < endpoints || problem !== '' ? 'degraded' : 'ok';
}
