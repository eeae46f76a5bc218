import type { RawObject } from '@sluice/kubernetes';

const ip = '192.168.0.1';
const port = { name: 'https', port: 6443, protocol: 'TCP' };

/** The Service of the API server. The API server manages its Endpoints and slice; labels keep controllers away. */
export const kubernetesService: readonly RawObject[] = [
  {
    kind: 'Service',
    metadata: {
      namespace: 'default',
      name: 'kubernetes',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, targetPort: 6443 }] },
  },
  {
    kind: 'Endpoints',
    metadata: {
      namespace: 'default',
      name: 'kubernetes',
      labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
    },
    subsets: [{ addresses: [{ ip }], ports: [port] }],
  },
  {
    kind: 'EndpointSlice',
    metadata: { namespace: 'default', name: 'kubernetes', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [ip], conditions: { ready: true } }],
    ports: [port],
  },
];
