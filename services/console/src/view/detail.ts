import { type EndpointSlice, managedByLabel } from '@sluice/controllers';
import { deletingSince } from '../explain/deleting-since.ts';
import { explainPod } from '../explain/explain-pod.ts';
import { explainService } from '../explain/explain-service.ts';
import { lastChanges, lastUnready } from '../explain/last-change.ts';
import { faceOf, podOf } from '../history/endpoint-changes.ts';
import type { Entry } from '../history/entry.ts';
import type { HistoryState } from '../history/history-state.ts';
import type { PodView, ServiceDetail, SliceView } from './schemas.ts';
import { summarize } from './summary.ts';

export interface Moment {
  readonly at: number;
  readonly live: boolean;
}

/** A Service with its Pods, slices and why they are so. `entries` up to that moment. */
export function detail(
  state: HistoryState,
  entries: readonly Entry[],
  clusterName: string,
  moment: Moment,
): ServiceDetail {
  const last = lastChanges(entries);
  const deleting = deletingSince(entries);
  const unready = lastUnready(entries);
  const names = new Set([...state.pods.keys(), ...[...state.slices.values()].flatMap(({ slice }) => podsOf(slice))]);
  return {
    ...moment,
    summary: summarize(state, entries, clusterName),
    kind: kindOf(state.service),
    notes: explainService(state),
    pods: [...names].sort().map((pod) => ({
      ...explainPod(state, pod),
      deletingSince: deleting.get(pod) ?? null,
      lastChange: last.get(pod) ?? null,
      unready: unready.get(pod) ?? null,
    })),
    slices: [...state.slices.values()].map(({ slice }) => sliceView(slice)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    endpoints: state.endpoints && {
      ready: count(state.endpoints.subsets, 'addresses'),
      notReady: count(state.endpoints.subsets, 'notReadyAddresses'),
    },
  };
}

function kindOf(service: HistoryState['service']): ServiceDetail['kind'] {
  if (service === null) return null;
  const { type, clusterIP, selector } = service;
  return { type, headless: clusterIP === 'None', selector };
}

/** One Pod, which may be gone: then its last change still tells of it. */
export function podDetail(state: HistoryState, entries: readonly Entry[], pod: string): PodView {
  const lastChange = lastChanges(entries).get(pod) ?? null;
  const explained = {
    ...explainPod(state, pod),
    deletingSince: deletingSince(entries).get(pod) ?? null,
    lastChange,
    unready: lastUnready(entries).get(pod) ?? null,
  };
  // That it is no Pod of the Service says less than that it was one.
  if (explained.verdict !== 'unknown' || explained.placements.length > 0 || lastChange?.what !== 'removed')
    return explained;
  return { ...explained, reasons: ['the Pod was deleted, or its labels do not match any more'] };
}

function sliceView({ metadata, addressType, ports, endpoints }: EndpointSlice): SliceView {
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
      ...faceOf(endpoint),
    })),
  };
}

function podsOf({ endpoints }: EndpointSlice): string[] {
  return (endpoints ?? []).map(podOf).filter((pod) => pod !== '');
}

type Subsets = NonNullable<HistoryState['endpoints']>['subsets'];

function count(subsets: Subsets, of: 'addresses' | 'notReadyAddresses'): number {
  return (subsets ?? []).reduce((sum, subset) => sum + (subset[of]?.length ?? 0), 0);
}
