import { type EndpointAddress, isIpv6, normaliseIp, type Pod, type Service } from '@sluice/model';
import { endpointHostname } from '../pods/endpoint-eligibility.ts';

/** Returns the address of a Pod in the Endpoints of a Service, in the Service's first IP family, or null (D10, D11). */
export function podToEndpointAddress(pod: Pod, service: Service): EndpointAddress | null {
  const wanted = wantsIpv6(pod, service) ? 'IPv6' : 'IPv4';
  for (const text of pod.ips) {
    const ip = normaliseIp(text);
    if (ip.family === wanted) return addressOf(ip.text, pod, service);
  }
  return null;
}

function wantsIpv6(pod: Pod, service: Service): boolean {
  const family = service.ipFamilies[0];
  if (family !== undefined) return family === 'IPv6';
  const headless = service.clusterIP === '' || service.clusterIP === 'None';
  return isIpv6(headless ? pod.ip : service.clusterIP);
}

function addressOf(ip: string, pod: Pod, service: Service): EndpointAddress {
  const hostname = endpointHostname(pod, service);
  const targetRef = { kind: 'Pod', namespace: pod.namespace, name: pod.name, uid: pod.uid };
  return hostname === ''
    ? { ip, nodeName: pod.nodeName, targetRef }
    : { ip, hostname, nodeName: pod.nodeName, targetRef };
}
