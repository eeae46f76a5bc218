/**
 * An API server that generates its objects while sending them and stores none: Pods of about 4 kB, as in a busy cluster,
 * and Services that select them. Runs as its own process and prints its URL.
 */
import { createServer, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '100000' },
    services: { type: 'string', default: '1000' },
    /** Ignores `limit` and sends everything in one response. */
    unpaged: { type: 'boolean', default: false },
    /** Does not support `sendInitialEvents`. */
    old: { type: 'boolean', default: false },
  },
});
const counts: Readonly<Record<string, number>> = {
  pods: Number(values.pods),
  services: Number(values.services),
  nodes: 500,
};
const version = '900000000';

const hex = (n: number, length: number): string =>
  (n * 2654435761 + 40503).toString(16).padStart(length, '0').slice(-length);
const uid = (kind: string, i: number): string => `${hex(i + kind.length, 8)}-0c1d-4e2f-8a3b-${hex(i * 7 + 1, 12)}`;

function service(i: number): object {
  return {
    metadata: {
      name: `service-${i}`,
      namespace: `team-${i % 50}`,
      uid: uid('service', i),
      resourceVersion: `${1000 + i}`,
    },
    spec: {
      selector: { app: `service-${i}` },
      ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }],
      clusterIP: `10.96.${i >> 8}.${i & 255}`,
      ipFamilies: ['IPv4'],
      type: 'ClusterIP',
    },
  };
}

const node = (i: number): object => ({
  metadata: {
    name: `node-${i}`,
    uid: uid('node', i),
    resourceVersion: `${i + 1}`,
    labels: { 'topology.kubernetes.io/zone': `zone-${i % 3}` },
  },
  status: { allocatable: { cpu: '64' }, conditions: [{ type: 'Ready', status: 'True' }] },
});

const environment = Array.from({ length: 24 }, (_, n) => ({
  name: `SETTING_${n}`,
  value: `a value of ordinary length, number ${n}`,
}));

function pod(i: number): object {
  const of = i % (counts.services ?? 1);
  const ip = `10.${128 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`;
  const time = '2026-11-01T10:11:12Z';
  return {
    metadata: {
      name: `service-${of}-7d9c6b5f8-${hex(i, 5)}-${i}`,
      generateName: `service-${of}-7d9c6b5f8-`,
      namespace: `team-${of % 50}`,
      uid: uid('pod', i),
      resourceVersion: `${100000 + i}`,
      creationTimestamp: time,
      labels: { app: `service-${of}`, 'pod-template-hash': '7d9c6b5f8', 'app.kubernetes.io/version': '2.14.1' },
      annotations: { 'kubernetes.io/config.seen': time, 'prometheus.io/scrape': 'true', checksum: hex(i, 64) },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `service-${of}-7d9c6b5f8`,
          uid: uid('set', of),
          controller: true,
        },
      ],
      managedFields: ['kube-controller-manager', 'kubelet'].map((manager) => ({
        manager,
        operation: 'Update',
        apiVersion: 'v1',
        time,
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:generateName': {}, 'f:labels': { '.': {}, 'f:app': {}, 'f:pod-template-hash': {} } },
        },
      })),
    },
    spec: {
      nodeName: `node-${i % 500}`,
      restartPolicy: 'Always',
      serviceAccountName: 'default',
      containers: [
        {
          name: 'main',
          image: `registry.example.com/service-${of}:2.14.1`,
          env: environment,
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
          volumeMounts: [
            { name: 'kube-api-access', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
          ],
        },
      ],
      volumes: [{ name: 'kube-api-access', projected: { defaultMode: 420 } }],
    },
    status: {
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      hostIP: `192.168.0.${i % 250}`,
      startTime: time,
      conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
        type,
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: time,
      })),
      containerStatuses: [
        { name: 'main', ready: true, restartCount: 0, image: `service-${of}:2.14.1`, imageID: `sha256:${hex(of, 64)}` },
      ],
    },
  };
}

const made: Readonly<Record<string, (i: number) => object>> = { pods: pod, services: service, nodes: node };
const kinds: Readonly<Record<string, string>> = { pods: 'Pod', services: 'Service', nodes: 'Node' };

async function write(response: ServerResponse, text: string): Promise<void> {
  if (!response.write(text)) await new Promise((resolve) => response.once('drain', resolve));
}

async function sendList(response: ServerResponse, resource: string, query: URLSearchParams): Promise<void> {
  const count = counts[resource] ?? 0;
  const from = Number(query.get('continue') ?? 0);
  const limit = values.unpaged ? 0 : Number(query.get('limit') ?? 0);
  const to = limit > 0 ? Math.min(count, from + limit) : count;
  const more = to < count ? `,"continue":"${to}"` : '';
  await write(
    response,
    `{"kind":"${kinds[resource] ?? ''}List","apiVersion":"v1","metadata":{"resourceVersion":"${version}"${more}},"items":[`,
  );
  for (let i = from; i < to; i += 100) {
    const batch = Array.from({ length: Math.min(100, to - i) }, (_, n) => JSON.stringify(made[resource]?.(i + n)));
    await write(response, `${i > from ? ',' : ''}${batch.join()}`);
  }
  response.end(']}\n');
}

async function sendInitialEvents(response: ServerResponse, resource: string): Promise<void> {
  const count = counts[resource] ?? 0;
  for (let i = 0; i < count; i += 100) {
    const batch = Array.from(
      { length: Math.min(100, count - i) },
      (_, n) => `{"type":"ADDED","object":${JSON.stringify(made[resource]?.(i + n))}}\n`,
    );
    await write(response, batch.join(''));
  }
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  await write(
    response,
    `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: version, annotations } } })}\n`,
  );
}

const server = createServer((request, response) => {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://server');
  const resource = pathname.split('/').at(-1) ?? '';
  const fail = (error: unknown) => response.destroy(error instanceof Error ? error : undefined);
  response.setHeader('content-type', 'application/json');
  if (query.get('watch') === null) return void sendList(response, resource, query).catch(fail);
  if (query.get('sendInitialEvents') === 'true') {
    if (!values.old) return void sendInitialEvents(response, resource).catch(fail);
    response.statusCode = 422;
    return void response.end(
      JSON.stringify({ kind: 'Status', code: 422, reason: 'Invalid', message: 'sendInitialEvents is forbidden' }),
    );
  }
  response.flushHeaders();
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});
