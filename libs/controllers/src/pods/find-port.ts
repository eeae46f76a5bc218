import type { Pod, Service, ServicePort } from '@sluice/model';

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

/** Whether the ports of a Service resolve to the same numbers on both Pods. */
export function samePorts(service: Service, a: Pod, b: Pod): boolean {
  return service.ports.every((port) => findPort(a, port) === findPort(b, port));
}
