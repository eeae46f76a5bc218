import { podOf } from '@sluice/controllers';
import { becauseOf } from '../history/describe-pod-change.ts';
import type { HistoryState } from '../history/history-state.ts';
import type { ServiceStatus } from '../view/schemas.ts';
import { noPodsText } from './explain-service.ts';

/** Why a Service is not ok, in one line; empty if it is, or if its status says all. `problem`: see `trafficProblem`. */
export function serviceReason(state: HistoryState, status: ServiceStatus, problem: string): string {
  switch (status) {
    case 'refused':
      return [...state.refused.values()][0]?.message ?? '';
    case 'empty':
    case 'degraded':
    case 'rolling':
      return problem || noPodsReason(state) || unreadyText(state);
    default:
      return '';
  }
}

/** Says nothing of other namespaces, because all readers of the Service get the same reason. */
const noPodsReason = ({ service, pods, similarPods }: HistoryState): string =>
  service === null || service.selector === null || pods.size > 0 ? '' : noPodsText(service, similarPods, () => false);

/** Names the first Pod that is not ready, with its reason. Pods that are deleted count only if no others are left. */
function unreadyText({ pods, slices }: HistoryState): string {
  const endpoints = [...slices.values()].flatMap(({ slice }) => slice.endpoints ?? []);
  const ready = new Set(endpoints.filter(({ conditions }) => conditions?.ready ?? true).map(podOf));
  const unready = [...pods].filter(([name, { pod }]) => !pod.terminal && !ready.has(name));
  const staying = unready.filter(([, { pod }]) => !pod.terminating);
  const [first, ...others] = (staying.length > 0 ? staying : unready).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (first === undefined) return '';
  const [name, known] = first;
  const who = others.length === 0 ? `${name} is` : `${name} and ${others.length} more are`;
  return staying.length === 0 ? `${who} being deleted, and no other is left` : `${who} not ready${becauseOf(known)}`;
}
