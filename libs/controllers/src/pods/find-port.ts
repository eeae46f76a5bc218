import type { Pod } from '../objects/pod.ts';
import type { Service, ServicePort } from '../objects/service.ts';

/**
 * The number behind a Service port for one Pod: a numeric targetPort as it is, a name by the first container port
 * of that name and protocol; null if there is none (C5).
 */
export function findPort(pod: Pod, port: ServicePort): number | null {
  const target = port.targetPort;
  if (typeof target === 'number') return target;
  for (const named of pod.ports) {
    if (named.name === target && named.protocol === port.protocol) return named.containerPort;
  }
  return null;
}

/** Whether the ports of a Service are the same numbers on two Pods. */
export function samePorts(service: Service, a: Pod, b: Pod): boolean {
  return service.ports.every((port) => findPort(a, port) === findPort(b, port));
}
