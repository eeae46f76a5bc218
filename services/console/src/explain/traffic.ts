import { unresolvedPorts } from '@sluice/controllers';
import type { EndpointSlice, Pod, Service } from '@sluice/model';
import type { HistoryState } from '../history/history-state.ts';

/** Whether a proxy can reach the endpoints of the slice: a Service with ports needs a port in the slice. */
export function isReachable(service: Service | null, { ports }: EndpointSlice): boolean {
  return service === null || service.ports.length === 0 || (ports ?? []).length > 0;
}

/**
 * Why Pods that are ready get no traffic, although all objects are as they should be: no Pod has the container port that a
 * port refers to, or the Node of a Pod does not exist (E15). Empty if there is no such reason. `ready`: reachable endpoints; `endpoints`: all.
 */
export function trafficProblem(
  state: HistoryState,
  { ready, endpoints }: { readonly ready: number; readonly endpoints: number },
): string {
  const { service } = state;
  if (service === null || service.selector === null || service.type === 'ExternalName') return '';
  const running = [...state.pods.values()].filter(({ pod }) => !pod.terminal);
  const pods = running.map(({ pod }) => pod);
  const ports = pods.length === 0 ? [] : unresolvedPorts(service, pods).map((port) => portText(port, pods));
  const leftOut = leftOutTexts(service, running);
  if (ready === 0 && ports.length > 0) return ['no reachable endpoints', [...ports, ...leftOut].join('; ')].join(': ');
  const others = ready < endpoints ? [`${endpoints - ready} not ready`] : [];
  if (leftOut.length > 0) return [`${ready} ready`, ...others, ...leftOut, ...ports].join(', ');
  return ports.join('; ');
}

function portText({ name, port, targetPort, protocol }: Service['ports'][number], pods: readonly Pod[]): string {
  const ofProtocol = pods.flatMap(({ ports }) => ports.filter((one) => one.protocol === protocol));
  const available = [...new Set(ofProtocol.map((one) => one.name))].sort();
  const names = available.length === 0 ? 'no Pod names a container port' : `available: ${available.join(', ')}`;
  return `port ${name || port} refers to container port ${JSON.stringify(targetPort)}, which no Pod has (${names})`;
}

type KnownPods = readonly { readonly pod: Pod; readonly node: object | null }[];

/** Pods that are ready and in no slice, because their Node does not exist. */
export function leftOutPods({ service, pods }: HistoryState): number {
  if (service === null || service.selector === null || service.type === 'ExternalName') return 0;
  return leftOutOf(
    service,
    [...pods.values()].filter(({ pod }) => !pod.terminal),
  ).length;
}

function leftOutOf({ publishNotReadyAddresses }: Service, running: KnownPods): KnownPods {
  if (publishNotReadyAddresses) return [];
  return running.filter(({ pod, node }) => node === null && pod.ready && !pod.terminating && pod.nodeName);
}

function leftOutTexts(service: Service, running: KnownPods): readonly string[] {
  const leftOut = leftOutOf(service, running);
  return [...Map.groupBy(leftOut, ({ pod }) => pod.nodeName)].map(
    ([node, { length }]) => `${length} ${length === 1 ? 'Pod' : 'Pods'} left out because Node ${node} does not exist`,
  );
}
