import type { RawObject } from '@sluice/kubernetes';

/** Desired state of a workload. */
export interface WorkloadSpec {
  readonly kind: 'Deployment' | 'StatefulSet';
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  readonly version: string;
  readonly containers: readonly ContainerSpec[];
  /** A restartable init container (C5). */
  readonly sidecar?: ContainerSpec;
  /** Headless Service that governs a StatefulSet. */
  readonly subdomain?: string;
  /** Service named in the activities of this workload's Pods. */
  readonly service: string;
  /** Minimum and maximum time from start to readiness, in milliseconds. */
  readonly startupMs: readonly [number, number];
}

export interface ContainerSpec {
  readonly name: string;
  readonly image: string;
  readonly ports: readonly { readonly name: string; readonly containerPort: number; readonly protocol?: string }[];
}

const port = (name: string, containerPort: number) => ({ name, containerPort });
const container = (name: string, ...ports: ContainerSpec['ports']) => ({ name, image: name, ports });
const quick = [800, 2500] as const;
const slow = [2500, 6000] as const;

export const namespaces = ['payments', 'platform', 'shop'];

const deployment = (
  namespace: string,
  name: string,
  replicas: number,
  version: string,
  ...ports: ContainerSpec['ports']
) =>
  ({
    kind: 'Deployment',
    namespace,
    name,
    replicas,
    version,
    containers: [container(name, ...ports)],
    service: name,
    startupMs: quick,
  }) satisfies WorkloadSpec;

const workloads: readonly WorkloadSpec[] = [
  deployment('shop', 'frontend', 9, '3.14.2', port('http', 8080)),
  {
    ...deployment('shop', 'cart', 4, '1.8.3', port('http', 8080), port('grpc', 9090)),
    sidecar: { name: 'proxy', image: 'proxy', ports: [port('proxy-admin', 15000)] },
  },
  deployment('shop', 'checkout', 6, '2.3.0', port('http', 8080)),
  deployment('shop', 'catalog', 5, '5.0.7', port('http', 8080)),
  { ...deployment('payments', 'payments-api', 4, '4.2.1', port('https', 8443)), startupMs: slow },
  {
    kind: 'StatefulSet',
    namespace: 'payments',
    name: 'ledger-db',
    replicas: 3,
    version: '16.4.0',
    containers: [container('postgres', port('postgres', 5432))],
    subdomain: 'ledger-db',
    service: 'ledger-db',
    startupMs: slow,
  },
  deployment('platform', 'search', 5, '8.15.1', port('http', 9200)),
  deployment('platform', 'otel-collector', 3, '0.119.0', port('otlp-grpc', 4317), port('otlp-http', 4318)),
  {
    ...deployment('kube-system', 'coredns', 2, '1.12.0', port('metrics', 9153)),
    containers: [
      container('coredns', { ...port('dns', 53), protocol: 'UDP' }, port('dns-tcp', 53), port('metrics', 9153)),
    ],
    service: 'kube-dns',
  },
];

const object = (namespace: string, name: string, metadata: RawObject, spec: RawObject): RawObject => ({
  metadata: { namespace, name, ...metadata },
  spec,
});
const labelled = (name: string, team: string) => ({ labels: { app: name, team } });
const http = { name: 'http', port: 80, targetPort: 'http', appProtocol: 'http' };

const services: readonly RawObject[] = [
  object(
    'shop',
    'frontend',
    { ...labelled('frontend', 'web'), annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
    { selector: { app: 'frontend' }, ports: [http] },
  ),
  object('shop', 'cart', labelled('cart', 'orders'), {
    selector: { app: 'cart' },
    ports: [
      http,
      { name: 'grpc', port: 9090, targetPort: 'grpc', appProtocol: 'kubernetes.io/h2c' },
      { name: 'proxy-admin', port: 15000, targetPort: 'proxy-admin' },
    ],
  }),
  object('shop', 'checkout', labelled('checkout', 'orders'), {
    selector: { app: 'checkout' },
    ports: [http],
    trafficDistribution: 'PreferClose',
  }),
  object('shop', 'catalog', labelled('catalog', 'web'), {
    selector: { app: 'catalog' },
    ports: [http],
    ipFamilyPolicy: 'RequireDualStack',
  }),
  object('payments', 'payments-api', labelled('payments-api', 'payments'), {
    selector: { app: 'payments-api' },
    ports: [{ name: 'https', port: 443, targetPort: 'https' }],
  }),
  object('payments', 'ledger-db', labelled('ledger-db', 'payments'), {
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    selector: { app: 'ledger-db' },
    ports: [{ name: 'postgres', port: 5432 }],
  }),
  object('payments', 'card-gateway', labelled('card-gateway', 'payments'), {
    ports: [{ name: 'https', port: 443, targetPort: 8443 }],
  }),
  object('platform', 'search', labelled('search', 'platform'), { selector: { app: 'search' }, ports: [http] }),
  object('platform', 'otel-collector', labelled('otel-collector', 'platform'), {
    selector: { app: 'otel-collector' },
    ports: [
      { name: 'otlp-grpc', port: 4317, targetPort: 'otlp-grpc' },
      { name: 'otlp-http', port: 4318, targetPort: 'otlp-http' },
    ],
    internalTrafficPolicy: 'Cluster',
  }),
  object('kube-system', 'kube-dns', labelled('kube-dns', 'platform'), {
    clusterIP: '10.96.0.10',
    selector: { app: 'coredns' },
    ports: [
      { name: 'dns', port: 53, protocol: 'UDP', targetPort: 'dns' },
      { name: 'dns-tcp', port: 53, targetPort: 'dns-tcp' },
      { name: 'metrics', port: 9153, targetPort: 'metrics' },
    ],
  }),
];

/** What a simulated cluster runs. */
export interface SampleObjects {
  readonly services: readonly RawObject[];
  readonly workloads: readonly WorkloadSpec[];
}

export const sampleObjects: SampleObjects = { services, workloads };

/** The objects of a short-lived preview environment. */
export function preview(number: number): { readonly workload: WorkloadSpec; readonly service: RawObject } {
  const name = `storefront-pr-${number}`;
  const workload = deployment('shop', name, 2, '0.1.0', port('http', 8080));
  return { workload, service: object('shop', name, labelled(name, 'web'), { selector: { app: name }, ports: [http] }) };
}
