import type { Pod, Service } from '@sluice/model';

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
