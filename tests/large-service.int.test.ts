import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RoleProcess } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, type Population, populate } from '@sluice/fake-apiserver';
import { type RunningServer, startKafka, startNats, startRedis } from '@sluice/local';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { until } from '@sluice/platform/testing';
import { afterEach, expect, test } from 'vitest';

/**
 * One Service of many Pods beside small ones, on servers with their default limits for a message: 1 MB. A larger one:
 * `PODS=50000 npx vitest run --project integration tests/large-service.int.test.ts`.
 */
const pods = Number(process.env.PODS ?? 6_000);
const smallServices = 20;
const partitions = 2;

const startBus = {
  NATS: async (directory: string) => {
    const server = await startNats({ directory });
    return { server, settings: { servers: [server.url] } };
  },
  Kafka: async (directory: string) => {
    const server = await startKafka({ directory });
    const settings = {
      servers: [`kafka://${server.broker}`],
      replicas: 1,
      minInsyncReplicas: 1,
      maxMessageBytes: '1Mi',
    };
    return { server, settings };
  },
} as const;

const processes: RoleProcess[] = [];
const servers: { stop(): Promise<void> }[] = [];
let directory: string;
let server: FakeApiServer;
let small: Population;
let log: string[];

async function startFleet(kind: keyof typeof startBus): Promise<void> {
  directory = mkdtempSync(join(tmpdir(), 'sluice-large-'));
  log = [];
  const redis = await startRedis({ directory: join(directory, 'redis') });
  const bus: { server: RunningServer; settings: object } = await startBus[kind](join(directory, 'bus'));
  servers.push(redis, bus.server);
  const configuration = join(directory, 'sluice.json');
  writeFileSync(configuration, JSON.stringify({ partitions, bus: bus.settings, store: { url: [redis.url] } }));
  server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  small = populate(server, { services: smallServices, podsPerService: 5, now: systemClock.now() });
  putLargeService();
  const http = new ApiServerHttp({ server, clock: systemClock });
  const kubeconfig = join(directory, 'kubeconfig.json');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
  servers.push({ stop: () => http.close() });
  for (const role of ['watcher', 'reconciler', 'writer'] as const) {
    const cluster = role === 'reconciler' ? [] : ['--kubeconfig', kubeconfig];
    const flags = ['--config', configuration, '--metrics-bind-address', '0', ...cluster];
    processes.push(new RoleProcess(role, role, flags, (from, line) => log.push(`${from}: ${line}`)));
  }
}

afterEach(async () => {
  for (const { child } of processes.splice(0)) child.kill('SIGKILL');
  for (const each of servers.splice(0).reverse()) await each.stop();
  rmSync(directory, { recursive: true, force: true });
});

function putLargeService(): void {
  const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'http' }];
  const spec = { type: 'ClusterIP', clusterIP: '10.9.9.9', clusterIPs: ['10.9.9.9'], ipFamilies: ['IPv4'], ports };
  const metadata = { namespace: 'bench-0', name: 'large', labels: { app: 'large' } };
  server.put('services', { metadata, spec: { ...spec, selector: { app: 'large' } } });
  for (let i = 0; i < pods; i++) {
    const pod = small.podObject(0, 0) as { status: object };
    const ip = `12.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
    const status = { ...pod.status, podIP: ip, podIPs: [{ ip }] };
    server.put('pods', { ...pod, metadata: { ...metadata, name: `large-${i}` }, status });
  }
}

interface Slice {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly endpoints?: readonly { readonly conditions: { readonly ready?: boolean } }[];
}

/** Number of endpoints by Service, or of unready ones. */
function endpoints(counts: (ready: boolean | undefined) => boolean = () => true): Map<string, number> {
  const byService = new Map<string, number>();
  for (const { metadata, endpoints = [] } of server.list('endpointslices').items as unknown as readonly Slice[]) {
    const service = metadata.labels['kubernetes.io/service-name'] ?? '';
    const count = endpoints.filter(({ conditions }) => counts(conditions.ready)).length;
    byService.set(service, (byService.get(service) ?? 0) + count);
  }
  return byService;
}

const details = () => log.slice(-30).join('\n');
const allSmall = (counts: Map<string, number>, count: number) =>
  small.services.every(({ name }) => counts.get(name) === count);

test.each(Object.keys(startBus) as (keyof typeof startBus)[])(
  `on %s, a Service of ${pods} Pods is served, and so are small ones beside it`,
  async (kind) => {
    await startFleet(kind);
    await until('endpoints of the small Services', () => allSmall(endpoints(), 5), details);
    await until('endpoints of the large Service', () => endpoints().get('large') === pods, details);
    for (let i = 0; i < smallServices; i++) server.put('pods', small.podObject(i, 0, false));
    const unready = () => endpoints((ready) => ready === false);
    await until('an unready Pod in each small Service', () => allSmall(unready(), 1), details);
    expect(log.filter((line) => /level=(error|fatal)|"level":"error"/.test(line))).toEqual([]);
  },
);
