import { controllers, isMirrorable, podOf } from '@sluice/controllers';
import {
  type Endpoints,
  endpointSliceController,
  endpointSliceMirroringController,
  managedByLabel,
  type Service,
} from '@sluice/model';
import { isReachable, trafficProblem } from '../explain/traffic.ts';
import type { HistoryState } from '../history/history-state.ts';
import type { ServiceStatus } from './schemas.ts';

/** When a Service with some endpoints that are not ready counts as degraded, rather than as rolling. */
export interface DegradedPolicy {
  /** A Pod is not ready for this long, in milliseconds. */
  readonly afterMs: number;
  /** The share of ready endpoints, up to 1, is smaller. */
  readonly below: number;
}

export const defaultDegradedPolicy: DegradedPolicy = { afterMs: 60_000, below: 0.5 };

/** Endpoints in the slices, as a proxy counts them. */
interface CountedEndpoints {
  readonly endpoints: number;
  readonly ready: number;
  readonly terminating: number;
  readonly slices: number;
}

interface StatusAtTime {
  readonly status: ServiceStatus;
  /** Why Pods that are ready get no traffic; empty: no such reason. */
  readonly problem: string;
  /** When the status changes although nothing happens, in milliseconds since the Unix epoch. */
  readonly until: number;
}

/** Endpoints without a port are not ready for a proxy. */
export function countEndpoints(state: HistoryState): CountedEndpoints {
  const counts = { endpoints: 0, ready: 0, terminating: 0, slices: 0 };
  for (const { slice } of state.slices.values()) {
    if (!managers.has(slice.metadata.labels?.[managedByLabel] ?? '')) continue;
    counts.slices++;
    const reachable = isReachable(state.service, slice);
    for (const { conditions } of slice.endpoints ?? []) {
      counts.endpoints++;
      if (reachable && (conditions?.ready ?? true)) counts.ready++;
      else if (conditions?.terminating) counts.terminating++;
    }
  }
  return counts;
}

const managers = new Set([endpointSliceController, endpointSliceMirroringController]);

/** The status at the time `at`. */
export function statusAt(
  state: HistoryState,
  counts: CountedEndpoints,
  at: number,
  policy: DegradedPolicy,
): StatusAtTime {
  const expected = counts.endpoints - counts.terminating;
  const problem = trafficProblem(state, { ready: counts.ready, endpoints: expected });
  const fixed = (status: ServiceStatus): StatusAtTime => ({ status, problem, until: Number.POSITIVE_INFINITY });
  if (state.isRemoved) return fixed('deleted');
  if (!state.isComplete) return fixed('unknown');
  if (state.refused.size > 0) return fixed('refused');
  if (controllers.some((controller) => state.planOf(controller) !== undefined)) return fixed('pending');
  if (state.service === null) return fixed('deleted');
  if (counts.endpoints === 0 && isUnmanaged(state.service, state.endpoints)) return fixed('unmanaged');
  if (counts.ready === 0) return fixed('empty');
  if (problem !== '') return fixed('degraded');
  if (counts.ready >= expected) return fixed('ok');
  const since = earliestUnready(state);
  if (isDegraded({ ready: counts.ready, expected, since }, at, policy)) return fixed('degraded');
  return { status: 'rolling', problem, until: since + policy.afterMs };
}

interface PartlyReady {
  readonly ready: number;
  /** Ready ones, and those that should become ready. */
  readonly expected: number;
  /** Since when one of them is not ready. */
  readonly since: number;
}

/** Whether a Service with some endpoints that are not ready is degraded, rather than rolling. */
export const isDegraded = ({ ready, expected, since }: PartlyReady, at: number, policy: DegradedPolicy): boolean =>
  ready < policy.below * expected || since + policy.afterMs <= at;

/** Whether no controller writes anything for the Service. */
function isUnmanaged({ type, selector }: Service, endpoints: Endpoints | null): boolean {
  return type === 'ExternalName' || (selector === null && (endpoints === null || !isMirrorable(endpoints)));
}

/** Since when the first Pod is not ready, as its condition says. Custom endpoints have no Pod, so it is not known: always. */
function earliestUnready(state: HistoryState): number {
  let earliest = Number.POSITIVE_INFINITY;
  for (const { slice } of state.slices.values()) {
    for (const endpoint of slice.endpoints ?? []) {
      const { conditions } = endpoint;
      if ((conditions?.ready ?? true) || conditions?.terminating) continue;
      const pod = state.pods.get(podOf(endpoint))?.pod;
      // A Pod that is ready by now is about to be written.
      if (pod?.ready === true) continue;
      if (pod === undefined) return Number.NEGATIVE_INFINITY;
      // It has just started if it has no condition Ready.
      if (pod.readyTransitionTime === null) continue;
      const since = Date.parse(pod.readyTransitionTime);
      earliest = Math.min(earliest, Number.isNaN(since) ? Number.NEGATIVE_INFINITY : since);
    }
  }
  return earliest;
}
