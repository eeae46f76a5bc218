import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RoleProcess } from '@sluice/demo/distributed';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ControlPlane,
  kubectl,
  type Nats,
  type RedisServer,
  startControlPlane,
  startNats,
  startRedis,
} from '../local/src/index.ts';

/**
 * Applies the overlays to a real API server, and serves two clusters with the permissions that the overlay for many clusters
 * grants: `management`, whose Secrets name the clusters, and `remote`.
 */
const folder = dirname(fileURLToPath(import.meta.url));
const main = join(folder, '../../services/sluice/src/main.ts');
const root = mkdtempSync(join(tmpdir(), 'sluice-overlays-'));
const roles: RoleProcess[] = [];
const log: string[] = [];
let management: ControlPlane;
let remote: ControlPlane;
let nats: Nats;
let redis: RedisServer;

beforeAll(async () => {
  const controlPlane = (name: string, grantSluice: boolean) =>
    startControlPlane({
      ...{ directory: join(root, name), name, authorization: 'RBAC', grantSluice },
      audit: 'Metadata',
    });
  [management, remote, nats, redis] = await Promise.all([
    controlPlane('management', false),
    controlPlane('remote', true),
    startNats({ directory: join(root, 'nats') }),
    startRedis({ directory: join(root, 'redis') }),
  ]);
});

afterAll(async () => {
  for (const role of roles) await role.stop();
  await Promise.all([management, remote, nats, redis].map((server) => server?.stop()));
  rmSync(root, { recursive: true, force: true });
});

const admin = (...args: string[]) => kubectl(management.adminKubeconfig, args);

/** An overlay of the user's own with these components. */
function overlayOf(...components: readonly string[]): string {
  const directory = join(root, `overlay-${components.join('-')}`);
  mkdirSync(directory);
  const path = (...parts: string[]) => relative(directory, join(folder, ...parts));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [path('.')],
    components: components.map((name) => path('components', name)),
  };
  writeFileSync(join(directory, 'kustomization.yaml'), JSON.stringify(kustomization));
  return directory;
}

interface Deployment {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly env: readonly { readonly name: string; readonly value: string }[];
          readonly envFrom: readonly { readonly configMapRef?: { readonly name: string } }[];
        }[];
      };
    };
  };
}

/** What `sluice config` prints in a container of each role; it warns about unknown variables and fails if one is invalid. */
async function configurations(): Promise<Readonly<Record<string, string>>> {
  const { items } = JSON.parse(await admin('get', 'deployments', '-n', 'sluice', '-o', 'json')) as {
    items: Deployment[];
  };
  const printed: Record<string, string> = {};
  for (const { metadata, spec } of items) {
    const [container] = spec.template.spec.containers;
    const name = container?.envFrom.flatMap(({ configMapRef }) => configMapRef?.name ?? [])[0] ?? '';
    const { data } = JSON.parse(await admin('get', 'configmap', name, '-n', 'sluice', '-o', 'json'));
    const own = Object.fromEntries(container?.env.map(({ name, value }) => [name, value]) ?? []);
    // In a Pod, the Secret of the role has a user, and a ConfigMap the authority.
    const user = { SLUICE_BUS_USERNAME: metadata.name, SLUICE_BUS_PASSWORD: 'p' };
    writeFileSync(join(root, 'ca.crt'), 'certificate');
    const shared = JSON.parse(JSON.stringify(data).replaceAll('/etc/sluice/tls', root));
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [main, 'config'], {
      env: { ...shared, ...own, ...user },
    });
    expect(stderr).toBe('');
    printed[metadata.name] = stdout;
  }
  return printed;
}

const deployments = ['sluice-console', 'sluice-reconciler', 'sluice-watcher', 'sluice-writer'];

test.each([
  ['kafka', 'kafka://kafka-bootstrap.kafka.svc:9092'],
  ['tracing', 'http://jaeger-collector.observability.svc:4318'],
])('the overlay for %s is accepted without warnings, and its settings are valid', async (name, setting) => {
  await admin('apply', '-k', join(folder, '../overlays', name), '--warnings-as-errors=true');
  const printed = await configurations();
  expect(Object.keys(printed)).toEqual(deployments);
  for (const role of deployments) expect(printed[role]).toContain(setting);
});

test('the overlay for workers has one Deployment in place of those of the roles', async () => {
  await admin('delete', 'deployments,poddisruptionbudgets', '--all', '-n', 'sluice');
  await admin('apply', '-k', join(folder, '../overlays/workers'), '--warnings-as-errors=true');
  await admin('apply', '-k', overlayOf('workers', 'kafka', 'tracing'), '--warnings-as-errors=true');
  const printed = await configurations();
  expect(Object.keys(printed)).toEqual(['sluice-console', 'sluice-worker']);
  for (const setting of ['inCluster: true', 'kafka://', 'http://jaeger-collector'])
    expect(printed['sluice-worker']).toContain(setting);
  const budgets = await admin('get', 'poddisruptionbudgets', '-n', 'sluice', '-o', 'name');
  expect(budgets.trim()).toBe('poddisruptionbudget.policy/sluice-worker');
  await admin('delete', 'deployments', '--all', '-n', 'sluice');
  await admin('apply', '-k', join(folder, '../overlays/autoscaling'), '--warnings-as-errors=true');
  const path = 'jsonpath={.items[*].spec.scaleTargetRef.name} {.items[*].spec.metrics[*].pods.metric.name}';
  const scaled = await admin('get', 'horizontalpodautoscalers', '-n', 'sluice', '-o', path);
  expect(scaled).toBe('sluice-worker sluice_desired_replicas');
  expect(Object.keys(await configurations())).toEqual(['sluice-console', 'sluice-worker']);
  await admin('delete', 'horizontalpodautoscalers', '--all', '-n', 'sluice');
  await admin('delete', 'deployments,poddisruptionbudgets', '--all', '-n', 'sluice');
});

test('the overlay for many clusters reads one namespace of Secrets per role, and can be combined with the others', async () => {
  await admin('delete', 'clusterrolebindings,rolebindings', '-A', '-l', 'app.kubernetes.io/name=sluice');
  await admin('apply', '-k', join(folder, '../overlays/many-clusters'), '--warnings-as-errors=true');
  await admin('apply', '-k', overlayOf('many-clusters', 'kafka', 'tracing'), '--warnings-as-errors=true');
  const printed = await configurations();
  for (const role of ['watcher', 'writer']) {
    const text = printed[`sluice-${role}`];
    expect(text).toContain(`namespace: sluice-${role}-clusters`);
    expect(text).toContain('kafka://');
    expect(text).toContain('http://jaeger-collector');
    expect(text).not.toContain('inCluster');
  }
  const granted = await admin(
    'get',
    'clusterrolebindings,rolebindings',
    '-A',
    '-l',
    'app.kubernetes.io/name=sluice',
    '-o',
    'name',
  );
  expect(granted.trim().split('\n')).toEqual([
    'rolebinding.rbac.authorization.k8s.io/sluice-clusters',
    'rolebinding.rbac.authorization.k8s.io/sluice-clusters',
  ]);
});

test('each role lists the Secrets of its namespace and has no other right in the management cluster', async () => {
  const can = async (role: 'watcher' | 'reconciler' | 'writer', ...what: string[]) =>
    (await kubectl(management.kubeconfigs[`sluice-${role}`], ['auth', 'can-i', ...what]).catch(() => 'no')).trim();
  const own = (role: 'watcher' | 'writer') => ['secrets', '-n', `sluice-${role}-clusters`];
  expect(await can('watcher', 'list', ...own('watcher'))).toBe('yes');
  expect(await can('writer', 'list', ...own('writer'))).toBe('yes');
  const refused = await Promise.all([
    can('watcher', 'list', ...own('writer')),
    can('writer', 'list', ...own('watcher')),
    can('reconciler', 'list', ...own('writer')),
    ...(['get', 'watch', 'create', 'update', 'delete'] as const).map((verb) => can('watcher', verb, ...own('watcher'))),
    can('watcher', 'list', 'secrets', '-n', 'sluice'),
    can('writer', 'list', 'secrets', '-A'),
    can('watcher', 'list', 'pods', '-A'),
    can('writer', 'update', 'endpointslices', '-A'),
  ]);
  expect(refused).toEqual(refused.map(() => 'no'));
});

test('a fleet with these permissions serves the clusters that the Secrets name, until their Secrets are deleted', async () => {
  // What an operator does: the permissions in each served cluster, and a kubeconfig per role.
  await admin('apply', '-f', join(folder, 'rbac.yaml'));
  for (const cluster of [management, remote]) {
    for (const role of ['watcher', 'writer'] as const) {
      const namespace = `sluice-${role}-clusters`;
      const file = `--from-file=kubeconfig=${cluster.kubeconfigs[`sluice-${role}`]}`;
      await admin('create', 'secret', 'generic', cluster.name, '-n', namespace, file);
      await admin('label', 'secret', cluster.name, '-n', namespace, 'sluice.io/cluster=true');
    }
    await kubectl(cluster.adminKubeconfig, ['create', 'namespace', 'shop']);
    await kubectl(cluster.adminKubeconfig, ['create', 'service', 'clusterip', 'web', '--tcp=80:8080', '-n', 'shop']);
    await createPod(cluster, 'web-1', cluster === management ? '10.1.0.1' : '10.2.0.1');
  }
  start('watcher');
  start('reconciler');
  start('writer');
  await expectAddresses(management, '10.1.0.1');
  await expectAddresses(remote, '10.2.0.1');

  for (const role of ['watcher', 'writer'])
    await admin('delete', 'secret', 'management', '-n', `sluice-${role}-clusters`);
  await expect
    .poll(() => log.filter((line) => line.includes('cluster removed')).length)
    .toBeGreaterThan(1)
    .catch(withLog);
  await createPod(management, 'web-2', '10.1.0.2');
  await createPod(remote, 'web-2', '10.2.0.2');
  await expectAddresses(remote, '10.2.0.1 10.2.0.2');
  // Nothing was removed from the cluster that is no longer served, and nothing added.
  await expectAddresses(management, '10.1.0.1');

  for (const role of roles.splice(0)) await role.stop();
  for (const { auditLog = '' } of [management, remote]) {
    const refused = readFileSync(auditLog, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ userAgent, responseStatus }) => /^sluice\/\d/.test(userAgent) && responseStatus?.code === 403);
    expect(refused.map(({ user, verb, requestURI }) => `${user.username} ${verb} ${requestURI}`)).toEqual([]);
  }
});

/** Runs a role with the overlay's variables; outside a Pod, a kubeconfig stands for its ServiceAccount. */
function start(role: 'watcher' | 'reconciler' | 'writer'): void {
  const where = ['--bus', nats.url, '--store', redis.url, '--partitions', '4', '--metrics-bind-address', '0'];
  const secrets = ['--cluster-secrets', 'sluice.io/cluster', '--cluster-secrets-namespace', `sluice-${role}-clusters`];
  const kubeconfig = ['--cluster-secrets-kubeconfig', management.kubeconfigs[`sluice-${role}`]];
  const clusters = role === 'reconciler' ? [] : [...secrets, ...kubeconfig];
  roles.push(new RoleProcess(role, role, [...where, ...clusters], (name, line) => log.push(`${name}: ${line}`)));
}

/** Adds the logs of the roles to a failed expectation. */
function withLog(error: unknown): never {
  throw new Error(`${error}\n${log.slice(-30).join('\n')}`, { cause: error });
}

async function expectAddresses(cluster: ControlPlane, addresses: string): Promise<void> {
  const path = 'jsonpath={.items[*].endpoints[*].addresses[*]}';
  const read = ['get', 'endpointslices', '-n', 'shop', '-l', 'kubernetes.io/service-name=web', '-o', path];
  await expect
    .poll(async () => (await kubectl(cluster.adminKubeconfig, read)).split(' ').sort().join(' '))
    .toBe(addresses)
    .catch(withLog);
}

async function createPod({ adminKubeconfig }: ControlPlane, name: string, podIP: string): Promise<void> {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };
  await kubectl(adminKubeconfig, ['apply', '-f', '-'], JSON.stringify(node));
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', labels: { app: 'web' } },
    spec: { containers: [{ name: 'web', image: 'web' }], nodeName: 'n1' },
  };
  await kubectl(adminKubeconfig, ['create', '-f', '-'], JSON.stringify(pod));
  const ready = { type: 'Ready', status: 'True' };
  const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions: [ready] };
  const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })];
  await kubectl(adminKubeconfig, ['patch', 'pod', name, '-n', 'shop', ...patch]);
}
