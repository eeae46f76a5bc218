import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RoleProcess } from '@sluice/demo/distributed';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, freePorts, kubectl, startControlPlane, startNats, startRedis } from '../local/src/index.ts';

/**
 * A fleet that reaches bus and store through Services whose endpoints Sluice itself writes, on a real API server, and a cold
 * start of all of it with new addresses. A proxy stands for DNS and kube-proxy: it connects to the first address in the
 * Endpoints of a Service, provided that those of kube-dns name the Pod that serves DNS.
 */
const root = mkdtempSync(join(tmpdir(), 'sluice-infrastructure-'));
const infrastructure = 'kube-system,infra';
const log: string[] = [];

let cluster: ControlPlane;
let fleet: RoleProcess[] = [];
let instance: RoleProcess | undefined;
let servers: { stop(): Promise<unknown> }[] = [];
let proxies: { readonly server: Server; readonly url: (scheme: string) => string }[];
/** Port on loopback behind each Pod address. */
const portOf = new Map<string, number>();
let dnsAddress = '';
const sockets = new Set<Socket>();

beforeAll(async () => {
  cluster = await startControlPlane({ directory: join(root, 'cluster'), name: 'c', authorization: 'AlwaysAllow' });
  await create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
  for (const name of ['infra', 'shop']) await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const [namespace, name] of services) await create(serviceObject(namespace, name));
  proxies = [await startProxy('infra', 'nats'), await startProxy('infra', 'redis')];
});

afterAll(async () => {
  await stopProcesses();
  for (const socket of sockets) socket.destroy();
  for (const { server } of proxies ?? []) server.close();
  await Promise.all(servers.map((server) => server.stop()));
  await cluster?.stop();
  rmSync(root, { recursive: true, force: true });
});

const services = [
  ['kube-system', 'kube-dns'],
  ['infra', 'nats'],
  ['infra', 'redis'],
  ['shop', 'web'],
] as const;

const create = (object: object) => kubectl(cluster.adminKubeconfig, ['create', '-f', '-'], JSON.stringify(object));

const serviceObject = (namespace: string, name: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name },
  spec: { selector: { app: name }, ports: [{ port: 80 }] },
});

/** Addresses in the Endpoints of a Service. */
async function addressesOf(namespace: string, name: string): Promise<readonly string[]> {
  const path = 'jsonpath={.subsets[*].addresses[*].ip}';
  const found = await kubectl(cluster.adminKubeconfig, ['get', 'endpoints', '-n', namespace, name, '-o', path]).catch(
    () => '',
  );
  return found.split(' ').filter((address) => address !== '');
}

async function startProxy(namespace: string, name: string) {
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => {}).once('close', () => sockets.delete(client));
    void (async () => {
      const dns = await addressesOf('kube-system', 'kube-dns');
      const [address = ''] = await addressesOf(namespace, name);
      const port = portOf.get(address);
      if (!dns.includes(dnsAddress) || port === undefined) {
        client.destroy();
        return;
      }
      const upstream = connect(port, '127.0.0.1');
      upstream.on('error', () => client.destroy()).once('close', () => client.destroy());
      client.once('close', () => upstream.destroy());
      client.pipe(upstream).pipe(client);
    })();
  });
  const [port = 0] = await freePorts(1);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { server, url: (scheme: string) => `${scheme}://127.0.0.1:${port}` };
}

/** Replaces all Pods by Pods with addresses in 10.`generation`.0.0/16, and bus and store by empty ones behind them. */
async function replacePods(generation: number): Promise<void> {
  for (const [namespace, name] of services) await replacePod(namespace, name, `10.${generation}.0.${name.length}`);
  await Promise.all(servers.map((server) => server.stop()));
  const [nats, redis] = await Promise.all([
    startNats({ directory: join(root, `nats-${generation}`) }),
    startRedis({ directory: join(root, `redis-${generation}`) }),
  ]);
  servers = [nats, redis];
  portOf.clear();
  portOf.set(`10.${generation}.0.4`, Number(new URL(nats.url).port));
  portOf.set(`10.${generation}.0.5`, Number(new URL(redis.url).port));
}

async function replacePod(namespace: string, name: string, podIP: string): Promise<void> {
  const pod = ['pod', '-n', namespace, name];
  await kubectl(cluster.adminKubeconfig, ['delete', ...pod, '--ignore-not-found', '--force', '--grace-period=0']);
  await create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels: { app: name } },
    spec: { containers: [{ name, image: name }], nodeName: 'n1', automountServiceAccountToken: false },
  });
  const ready = { type: 'Ready', status: 'True' };
  const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions: [ready] };
  await kubectl(cluster.adminKubeconfig, [
    'patch',
    ...pod,
    '--subresource',
    'status',
    '-p',
    JSON.stringify({ status }),
  ]);
  if (name === 'kube-dns') dnsAddress = podIP;
}

const onLine = (name: string, line: string) => void log.push(`${name}: ${line}`);

function startFleet(): void {
  const [nats, redis] = proxies;
  const where = ['--bus', nats?.url('nats') ?? '', '--store', redis?.url('redis') ?? '', '--partitions', '4'];
  fleet = (['watcher', 'reconciler', 'writer'] as const).map((role) => {
    const kubeconfig = ['--kubeconfig', cluster.adminKubeconfig, '--exclude-namespaces', infrastructure];
    const args = [...where, '--metrics-bind-address', '0', ...(role === 'reconciler' ? [] : kubeconfig)];
    return new RoleProcess(role, role, args, onLine);
  });
}

function startInstance(): void {
  const flags = ['--kubeconfig', cluster.adminKubeconfig, '--namespaces', infrastructure];
  const args = [...flags, '--metrics-bind-address', '0', '--output', 'none'];
  instance = new RoleProcess('infrastructure', 'run', args, onLine);
}

async function stopProcesses(): Promise<void> {
  const all = [...fleet, ...(instance === undefined ? [] : [instance])];
  for (const { child } of all) child.kill('SIGKILL');
  await Promise.all(all.map(({ exited }) => exited));
  [fleet, instance] = [[], undefined];
}

async function expectAddresses(expected: Readonly<Record<string, string>>): Promise<void> {
  const found = async () =>
    Object.fromEntries(
      await Promise.all(
        Object.keys(expected).map(async (key) => {
          const [namespace = '', name = ''] = key.split('/');
          return [key, (await addressesOf(namespace, name)).join()];
        }),
      ),
    );
  await expect.poll(found, { interval: 250, message: log.slice(-20).join('\n') }).toEqual(expected);
}

test('a cold start with new addresses: the infrastructure instance recovers DNS, bus and store, and the fleet the rest', async () => {
  await replacePods(1);
  startInstance();
  startFleet();
  await expectAddresses({ 'infra/nats': '10.1.0.4', 'infra/redis': '10.1.0.5', 'shop/web': '10.1.0.3' });

  await stopProcesses();
  await replacePods(2);
  const before = log.length;
  startFleet();
  // The fleet alone cannot recover: its bus and store are behind addresses of Pods that are gone.
  await expect.poll(() => log.slice(before).join('\n')).toMatch(/unreachable|unavailable/);
  expect(await addressesOf('shop', 'web')).toEqual(['10.1.0.3']);
  startInstance();
  await expectAddresses({ 'kube-system/kube-dns': '10.2.0.8', 'infra/nats': '10.2.0.4', 'shop/web': '10.2.0.3' });
});

describe('the manifests', () => {
  beforeAll(async () => {
    await kubectl(cluster.adminKubeconfig, ['create', 'namespace', 'sluice']);
  });

  test.each([
    ['sluice-infrastructure', 'restricted', ['-f', './infrastructure.yaml']],
    ['sluice', 'restricted', ['-k', '../overlays/one-cluster']],
    ['sluice', 'privileged', ['-k', '../overlays/one-cluster-host-network']],
  ])(
    '%s is accepted under the Pod Security Standard %s with %j, and its flags are valid',
    async (name, level, where) => {
      const standard = (mode: string) => `pod-security.kubernetes.io/${mode}=${level}`;
      const admin = (...args: string[]) => kubectl(cluster.adminKubeconfig, args);
      await admin('label', '--overwrite', 'namespace', 'sluice', standard('enforce'), standard('warn'));
      const [option = '', path = ''] = where;
      const manifest = fileURLToPath(new URL(path, import.meta.url));
      await admin('apply', option, manifest, '--warnings-as-errors=true');
      const container = 'jsonpath={.spec.template.spec.containers[0].args}';
      const args = JSON.parse(await admin('get', 'deployment', '-n', 'sluice', name, '-o', container)) as string[];
      expect(args).toContain('--leader-elect');
      // Of the fleet, which serves the other namespaces, the console is a process of its own.
      expect(args.includes('--console-bind-address=127.0.0.1:10280')).toBe(name === 'sluice');
      const main = fileURLToPath(new URL('../../services/sluice/src/main.ts', import.meta.url));
      // Outside a Pod only the service account is missing.
      const run = promisify(execFile)(process.execPath, [main, ...args]);
      await expect(run).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('this is not a Pod') });
    },
  );
});

test('the fleet writes nothing in the infrastructure namespaces', async () => {
  instance?.child.kill('SIGKILL');
  await instance?.exited;
  instance = undefined;
  await replacePod('infra', 'redis', '10.3.0.5');
  await replacePod('shop', 'web', '10.3.0.3');
  await expectAddresses({ 'shop/web': '10.3.0.3' });
  await replacePod('shop', 'web', '10.4.0.3');
  await expectAddresses({ 'shop/web': '10.4.0.3' });
  expect(await addressesOf('infra', 'redis')).toEqual(['10.2.0.5']);
});
