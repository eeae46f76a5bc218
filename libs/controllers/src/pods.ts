import type { Pod, Service, ServicePort, StringMap } from '@sluice/model';

/**
 * Whether a Pod may be in endpoints: it is not terminal, has an IP and, unless `includeTerminating`, is not terminating
 * (C3).
 */
export function shouldPodBeInEndpoints(pod: Pod, includeTerminating: boolean): boolean {
  if (pod.terminal) return false;
  if (pod.ip === '' && pod.ips.length === 0) return false;
  return includeTerminating || !pod.terminating;
}

/** Returns the hostname to publish for a Pod: its own if its subdomain is the Service, otherwise empty (C4). */
export function endpointHostname(pod: Pod, service: Service): string {
  const shown = pod.hostname !== '' && pod.subdomain === service.name && pod.namespace === service.namespace;
  return shown ? pod.hostname : '';
}

/**
 * Resolves a Service port for a Pod: a numeric targetPort as is, a named one to the first container port with that name
 * and protocol. Returns null if there is none (C5).
 */
export function findPort(pod: Pod, port: ServicePort): number | null {
  const target = port.targetPort;
  if (typeof target === 'number') return target;
  for (const named of pod.ports) {
    if (named.name === target && named.protocol === port.protocol) return named.containerPort;
  }
  return null;
}

/** Ports of the Service that none of these Pods has (E16). */
export function unresolvedPorts(service: Service, pods: readonly Pod[]): Service['ports'] {
  return service.ports.filter((port) => pods.every((pod) => findPort(pod, port) === null));
}

/** Whether the ports of a Service resolve to the same numbers on both Pods. */
export function samePorts(service: Service, a: Pod, b: Pod): boolean {
  return service.ports.every((port) => findPort(a, port) === findPort(b, port));
}

/** Whether a Service's selector matches the labels. A null selector matches nothing, an empty one everything (C9). */
export function selectorMatches(selector: StringMap | null, labels: StringMap): boolean {
  return selector !== null && Object.entries(selector).every(([key, value]) => labels[key] === value);
}

interface Named {
  readonly pod: { readonly name: string };
}

/**
 * Returns the indexes of Pods that are different objects than before, or undefined if a Pod was added, removed or
 * moved. Pod objects are immutable.
 */
export function changedIndexes(before: readonly Named[], now: readonly Named[]): readonly number[] | undefined {
  if (before.length !== now.length) return undefined;
  const indexes: number[] = [];
  for (let i = 0; i < now.length; i++) {
    const [a, b] = [before[i], now[i]];
    if (a === b) continue;
    if (a?.pod.name !== b?.pod.name) return undefined;
    indexes.push(i);
  }
  return indexes;
}
