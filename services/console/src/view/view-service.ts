import { podOf } from '@sluice/controllers';
import { type EndpointSlice, managedByLabel } from '@sluice/model';
import { explainPod } from '../explain/explain-pod.ts';
import { explainService } from '../explain/explain-service.ts';
import { noHistory, podHistories } from '../explain/pod-histories.ts';
import { endpointState } from '../history/endpoint-changes.ts';
import type { HistoryState } from '../history/history-state.ts';
import type { PodView, ServiceDetail, SliceView } from './schemas.ts';
import type { DegradedPolicy } from './service-status.ts';
import { type SummarizedMoment, summarize } from './summarize.ts';

/** A Service at one time: its state, and its history up to then. */
export interface Moment extends SummarizedMoment {
  readonly live: boolean;
}

/** A Service with its Pods and slices, and explanations of both. */
export function viewService(
  moment: Moment,
  clusterName: string,
  degraded: DegradedPolicy,
  sees?: (namespace: string) => boolean,
): Omit<ServiceDetail, 'joinedAs' | 'outage'> {
  const { at, live, state } = moment;
  const slices = [...state.slices.values()].map(({ slice }) => viewSlice(slice));
  const pods = new Set([...state.pods.keys(), ...slices.flatMap(({ endpoints }) => endpoints.map(({ pod }) => pod))]);
  pods.delete('');
  return {
    at,
    live,
    summary: summarize(moment, clusterName, degraded).summary,
    kind: kindOf(state.service),
    notes: explainService(state, sees),
    pods: [...pods].sort().map(podViewer(moment)),
    slices: slices.sort((a, b) => (a.name < b.name ? -1 : 1)),
    endpoints: state.endpoints && {
      ready: countAddresses(state.endpoints.subsets, 'addresses'),
      notReady: countAddresses(state.endpoints.subsets, 'notReadyAddresses'),
    },
  };
}

/** One Pod, which may be deleted by now. */
export const viewPod = (moment: Moment, pod: string): PodView => podViewer(moment)(pod);

function podViewer({ at, state, entries }: Moment): (pod: string) => PodView {
  const histories = podHistories(entries, at);
  return (pod) => {
    const view = { ...explainPod(state, pod, at), ...(histories.get(pod) ?? noHistory) };
    const wasRemoved =
      view.verdict === 'unknown' && view.placements.length === 0 && view.lastChange?.type === 'removed';
    if (!wasRemoved) return view;
    return { ...view, reasons: ['the Pod was deleted, or its labels no longer match the selector'] };
  };
}

function kindOf(service: HistoryState['service']): ServiceDetail['kind'] {
  if (service === null) return null;
  const { type, clusterIP, selector } = service;
  return { type, headless: clusterIP === 'None', selector };
}

function viewSlice({ metadata, addressType, ports, endpoints }: EndpointSlice): SliceView {
  return {
    name: metadata.name,
    addressType,
    managedBy: metadata.labels?.[managedByLabel] ?? '',
    ports: (ports ?? []).map(({ name, protocol, port }) => ({
      name: name ?? '',
      protocol: protocol ?? 'TCP',
      port: port ?? null,
    })),
    endpoints: (endpoints ?? []).map((endpoint) => ({
      pod: podOf(endpoint),
      node: endpoint.nodeName ?? '',
      addresses: endpoint.addresses,
      ...endpointState(endpoint),
    })),
  };
}

type Subsets = NonNullable<HistoryState['endpoints']>['subsets'];

function countAddresses(subsets: Subsets, of: 'addresses' | 'notReadyAddresses'): number {
  return (subsets ?? []).reduce((sum, subset) => sum + (subset[of]?.length ?? 0), 0);
}
