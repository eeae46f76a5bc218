import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RoleProcess } from '@sluice/demo/distributed';
import { Connection, loadKubeconfig } from '@sluice/kubernetes';
import { silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type ControlPlane,
  type Identity,
  kubectl,
  type Nats,
  type RedisServer,
  startControlPlane,
  startNats,
  startRedis,
} from '../local/src/index.ts';

/** Applies the manifests of this folder to a real API server, and runs the roles with exactly the permissions they grant. */

const folder = dirname(fileURLToPath(import.meta.url));
const main = join(folder, '../../services/sluice/src/main.ts');
const root = mkdtempSync(join(tmpdir(), 'sluice-kubernetes-'));
/** What ConfigMap sluice-ca contains, and the certificates of the servers. */
const certificates = join(root, 'certificates');
let cluster: ControlPlane;
let nats: Nats;
let redis: RedisServer;
const roles: RoleProcess[] = [];
const log: string[] = [];

beforeAll(async () => {
  const script = join(folder, 'make-certificates.sh');
  const servers = ['nats=nats.nats.svc,127.0.0.1', 'redis=redis.redis.svc,127.0.0.1'];
  // Again, as for a renewal.
  for (let n = 0; n < 2; n++) await promisify(execFile)('sh', [script, certificates, ...servers]);
  const of = (name: string) => join(certificates, name);
  [cluster, nats, redis] = await Promise.all([
    startControlPlane({
      directory: join(root, 'cluster'),
      name: 'roles',
      authorization: 'RBAC',
      grantSluice: false,
      audit: 'Metadata',
    }),
    startNats({
      directory: join(root, 'nats'),
      configuration: `tls { cert_file: "${of('nats.crt')}", key_file: "${of('nats.key')}" }`,
    }),
    startRedis({
      directory: join(root, 'redis'),
      tls: true,
      settings: { 'tls-cert-file': of('redis.crt'), 'tls-key-file': of('redis.key') },
    }),
  ]);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  for (const role of roles) await role.stop();
  await cluster?.stop();
  await nats?.stop();
  await redis?.stop();
  rmSync(root, { recursive: true, force: true });
});

const admin = (...args: string[]) => kubectl(cluster.adminKubeconfig, args);

/** Settings of the manifests, with the paths of this machine. */
const local = (settings: Readonly<Record<string, string>>): Record<string, string> =>
  JSON.parse(JSON.stringify(settings).replaceAll('/etc/sluice/tls', certificates));

/** The ConfigMap that all roles share. */
async function sharedSettings(): Promise<Readonly<Record<string, string>>> {
  const selection = ['configmaps', '-n', 'sluice', '-l', '!kubernetes.io/metadata.name', '-o', 'json'];
  const { items } = JSON.parse(await admin('get', ...selection)) as {
    items: { metadata: { name: string }; data: Record<string, string> }[];
  };
  return items.find(({ metadata }) => metadata.name.startsWith('sluice-'))?.data ?? {};
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly {
          readonly args: readonly string[];
          readonly env: readonly { readonly name: string; readonly value: string }[];
          readonly envFrom: readonly { readonly secretRef?: { readonly name: string } }[];
          readonly volumeMounts: readonly unknown[];
        }[];
        readonly volumes: readonly unknown[];
      };
    };
  };
}

describe('kubectl apply -k', () => {
  it('succeeds without warnings, also under the restricted Pod Security Standard', async () => {
    await admin('apply', '-k', folder, '--warnings-as-errors=true');
    const restricted = 'pod-security.kubernetes.io/enforce=restricted';
    // Labelling the namespace warns about existing Pods; Deployments are checked when they are applied again.
    await admin('label', 'namespace', 'sluice', restricted, restricted.replace('enforce', 'warn'), '--overwrite');
    await admin('delete', 'deployments', '--all', '-n', 'sluice');
    await admin('apply', '-k', folder, '--warnings-as-errors=true');
  });

  it('starts each role with its own ServiceAccount and valid settings', async () => {
    const list = JSON.parse(await admin('get', 'deployments', '-n', 'sluice', '-o', 'json')) as { items: Manifest[] };
    const shared = await sharedSettings();
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual([
      'sluice-console',
      'sluice-reconciler',
      'sluice-watcher',
      'sluice-writer',
    ]);
    for (const { metadata, spec } of list.items) {
      const { serviceAccountName, containers, volumes } = spec.template.spec;
      expect(serviceAccountName).toBe(metadata.name);
      const [container] = containers;
      expect(container?.args).toEqual([metadata.name.replace('sluice-', '')]);
      const secrets = container?.envFrom.flatMap(({ secretRef }) => (secretRef === undefined ? [] : [secretRef.name]));
      expect(secrets, 'no role has the users of another').toEqual([metadata.name]);
      const own = Object.fromEntries(container?.env.map(({ name, value }) => [name, value]) ?? []);
      // Warns about unknown variables, and exits with status 2 if one is invalid.
      const env = local({ ...shared, ...own });
      const printed = await promisify(execFile)(process.execPath, [main, 'config'], { env });
      expect(printed.stderr).toBe('');
      expect(printed.stdout).toContain('tls://nats.nats.svc:4222');
      expect(printed.stdout).toContain('rediss://redis.redis.svc:6379');
      expect(printed.stdout.split(join(certificates, 'ca.crt')), 'of bus and store').toHaveLength(3);
      expect(container?.volumeMounts).toEqual([{ name: 'tls', mountPath: '/etc/sluice/tls', readOnly: true }]);
      expect(volumes).toMatchObject([{ name: 'tls', configMap: { name: 'sluice-ca' } }]);
    }
  });
});

it('lets only the roles that watch or write reach API servers', async () => {
  const list = JSON.parse(await admin('get', 'networkpolicies', '-n', 'sluice', '-o', 'json')) as {
    items: {
      metadata: { name: string };
      spec: { podSelector: { matchExpressions?: { values: string[] }[] }; egress: { ports: { port: number }[] }[] };
    }[];
  };
  const toApiServers = list.items.filter(({ spec }) =>
    spec.egress.some(({ ports }) => ports.some(({ port }) => port === 443 || port === 6443)),
  );
  expect(toApiServers.map(({ metadata }) => metadata.name)).toEqual(['sluice-api-servers']);
  expect(toApiServers[0]?.spec.podSelector.matchExpressions?.[0]?.values).toEqual([
    'worker',
    'watcher',
    'writer',
    'infrastructure',
  ]);
});

it('lets only the monitoring namespace connect', async () => {
  const list = JSON.parse(await admin('get', 'networkpolicies', '-n', 'sluice', '-o', 'json')) as {
    items: { spec: { ingress?: { from?: { namespaceSelector: { matchLabels: object } }[] }[] } }[];
  };
  const rules = list.items.flatMap(({ spec }) => spec.ingress ?? []);
  const monitoring = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } };
  expect(rules.map(({ from }) => from)).toEqual([[monitoring]]);
});

interface CertManagerObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: {
    readonly dnsNames?: readonly string[];
    readonly issuerRef?: { readonly name: string };
    readonly secretName?: string;
    readonly ca?: { readonly secretName: string };
    readonly sources?: readonly unknown[];
    readonly target?: object;
  };
}

describe('cert-manager.yaml', () => {
  it('is accepted, with a certificate for each server of the fleet, and the authority that the roles mount', async () => {
    for (const namespace of ['cert-manager', 'nats', 'redis']) await admin('create', 'namespace', namespace);
    for (const [group, version, kind, scope] of [
      ['cert-manager.io', 'v1', 'Certificate', 'Namespaced'],
      ['cert-manager.io', 'v1', 'ClusterIssuer', 'Cluster'],
      ['trust.cert-manager.io', 'v1alpha1', 'Bundle', 'Cluster'],
    ] as const) {
      const definition = JSON.stringify(definitionOf(group, version, kind, scope));
      await kubectl(cluster.adminKubeconfig, ['create', '-f', '-'], definition);
    }
    const apply = ['apply', '--server-side', '--dry-run=server', '-o', 'json', '-f', join(folder, 'cert-manager.yaml')];
    let applied = '';
    // The API server needs a moment to serve new kinds.
    await expect.poll(async () => (applied = await admin(...apply).catch(String))).toContain('"kind": "List"');
    const { items: objects } = JSON.parse(applied) as { items: readonly CertManagerObject[] };
    const named = (kind: string, name: string) =>
      objects.find((object) => object.kind === kind && object.metadata.name === name)?.spec;

    const { SLUICE_BUS_SERVERS = '', SLUICE_STORE_URL = '' } = await sharedSettings();
    for (const url of [SLUICE_BUS_SERVERS, SLUICE_STORE_URL]) {
      const host = new URL(url).hostname;
      const certificate = objects.find(({ spec }) => spec.dnsNames?.includes(host));
      expect([host, certificate?.metadata.namespace]).toEqual([host, host.split('.')[1]]);
      expect(named('ClusterIssuer', certificate?.spec.issuerRef?.name ?? '')?.ca).toEqual({ secretName: 'sluice-ca' });
    }
    expect(named('Certificate', 'sluice-ca')).toMatchObject({ isCA: true, secretName: 'sluice-ca' });
    // A Bundle writes ConfigMaps of its name.
    expect(named('Bundle', 'sluice-ca')).toMatchObject({
      sources: [{ secret: { name: 'sluice-ca', key: 'ca.crt' } }],
      target: {
        configMap: { key: 'ca.crt' },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'sluice' } },
      },
    });
  });
});

/** A kind without a schema; cert-manager's own are not available here. */
function definitionOf(group: string, version: string, kind: string, scope: string): object {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const plural = `${kind.toLowerCase()}s`;
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: {
      name: `${plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
    },
    spec: { group, scope, names: { kind, plural }, versions: [{ name: version, served: true, storage: true, schema }] },
  };
}

describe('flow-control.yaml', () => {
  const uidOf = (kind: string, name: string) => admin('get', kind, name, '-o', 'jsonpath={.metadata.uid}');

  /** Flow schema and priority level of a request of the ServiceAccount. */
  async function placeOf(identity: Identity): Promise<{ readonly schema: unknown; readonly level: unknown }> {
    const access = await loadKubeconfig({ paths: [cluster.kubeconfigs[identity]] });
    const connection = new Connection({ access, userAgent: 'sluice/test', clock: systemClock, logger: silentLogger });
    try {
      const { signal } = new AbortController();
      const path = '/api/v1/namespaces/kube-system';
      const { headers } = await connection.request({ method: 'GET', path, signal });
      return {
        schema: headers['x-kubernetes-pf-flowschema-uid'],
        level: headers['x-kubernetes-pf-prioritylevel-uid'],
      };
    } finally {
      await connection.close();
    }
  }

  it('gives the requests of each role, and no others, the priority level of kube-controller-manager', async () => {
    await admin('apply', '-f', join(folder, 'flow-control.yaml'), '--warnings-as-errors=true');
    const ours = {
      schema: await uidOf('flowschemas', 'sluice'),
      level: await uidOf('prioritylevelconfigurations', 'workload-high'),
    };
    for (const identity of ['sluice-watcher', 'sluice-writer', 'sluice'] as const) {
      // The API server needs a moment to load a new schema.
      await expect.poll(() => placeOf(identity)).toEqual(ours);
    }
    expect((await placeOf('admin')).schema).not.toBe(ours.schema);
  });
});

/** Permissions of each ServiceAccount: verbs on `resource.group`. */
const permissions: readonly (readonly [resource: string, verbs: readonly string[], by: readonly Identity[]])[] = [
  ['services', ['list', 'watch'], ['sluice-watcher']],
  ['pods', ['list', 'watch'], ['sluice-watcher']],
  ['nodes', ['list', 'watch'], ['sluice-watcher']],
  ['services', ['get'], ['sluice-writer']],
  ['pods', ['get'], ['sluice-writer']],
  ['nodes', ['get'], ['sluice-writer']],
  ['endpoints', ['watch'], ['sluice-watcher']],
  ['endpoints', ['list'], ['sluice-watcher', 'sluice-writer']],
  ['endpoints', ['get', 'create', 'update', 'delete'], ['sluice-writer']],
  ['endpoints', ['patch', 'deletecollection'], []],
  ['endpointslices.discovery.k8s.io', ['watch'], ['sluice-watcher']],
  ['endpointslices.discovery.k8s.io', ['list'], ['sluice-watcher', 'sluice-writer']],
  ['endpointslices.discovery.k8s.io', ['get', 'create', 'update', 'delete'], ['sluice-writer']],
  ['endpointslices.discovery.k8s.io', ['patch', 'deletecollection'], []],
  ['events', ['create', 'patch'], ['sluice-writer']],
  ['events', ['list', 'delete'], []],
  ['pods', ['create', 'update', 'patch', 'delete'], []],
  ['services', ['create', 'update', 'patch', 'delete'], []],
  ['secrets', ['get', 'list', 'watch'], []],
  ['configmaps', ['get', 'list'], []],
  ['leases.coordination.k8s.io', ['get', 'create', 'update'], []],
];

describe('each role', () => {
  it('has its own permissions and none of the others', async () => {
    const wrong: string[] = [];
    for (const identity of ['sluice-watcher', 'sluice-reconciler', 'sluice-writer'] as const) {
      const allowed = await rulesOf(identity);
      for (const [resource, verbs, by] of permissions) {
        for (const verb of verbs) {
          if (allowed(verb, resource) !== by.includes(identity)) wrong.push(`${identity} ${verb} ${resource}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('works with them over TLS: a Service gets its endpoints from the writer alone, and no request is forbidden', async () => {
    const { SLUICE_BUS_TLS_CA_FILE = '', SLUICE_STORE_TLS_CA_FILE = '' } = local(await sharedSettings());
    vi.stubEnv('SLUICE_BUS_TLS_CA_FILE', SLUICE_BUS_TLS_CA_FILE);
    vi.stubEnv('SLUICE_STORE_TLS_CA_FILE', SLUICE_STORE_TLS_CA_FILE);
    await admin('create', 'namespace', 'shop');
    await admin('create', 'service', 'clusterip', 'web', '--tcp=80:8080', '-n', 'shop');
    start('watcher', ['--kubeconfig', cluster.kubeconfigs['sluice-watcher']]);
    start('reconciler', []);
    start('writer', ['--kubeconfig', cluster.kubeconfigs['sluice-writer']]);
    await createPod();
    const read = [
      '-n',
      'shop',
      '-l',
      'kubernetes.io/service-name=web',
      '-o',
      'jsonpath={.items[*].endpoints[*].addresses[*]}',
    ];
    await expect
      .poll(() => admin('get', 'endpointslices', ...read))
      .toBe('10.1.0.1')
      .catch(withLog);
    const address = ['-n', 'shop', '-o', 'jsonpath={.subsets[*].addresses[*].ip}', '--ignore-not-found'];
    await expect
      .poll(() => admin('get', 'endpoints', 'web', ...address))
      .toBe('10.1.0.1')
      .catch(withLog);
    await admin('delete', 'service', 'web', '-n', 'shop');
    const endpoints = ['get', 'endpoints', '-n', 'shop', '-o', 'name'];
    await expect
      .poll(() => admin(...endpoints))
      .not.toContain('web')
      .catch(withLog);
    for (const role of roles.splice(0)) await role.stop();

    const events = readFileSync(cluster.auditLog ?? '', 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const ours = events.filter(({ user }) => user.username.startsWith('system:serviceaccount:sluice:sluice-'));
    const refused = ours.filter(({ responseStatus }) => responseStatus?.code === 403);
    expect(refused.map(({ user, verb, requestURI }) => `${user.username} ${verb} ${requestURI}`)).toEqual([]);
    // Access reviews are creates too.
    const isWrite = ({ verb, objectRef }: { verb: string; objectRef?: { apiGroup?: string } }) =>
      !['get', 'list', 'watch'].includes(verb) && objectRef?.apiGroup !== 'authorization.k8s.io';
    const writes = ours.filter(isWrite);
    expect(writes.length).toBeGreaterThan(2);
    expect(new Set(writes.map(({ user }) => user.username))).toEqual(
      new Set(['system:serviceaccount:sluice:sluice-writer']),
    );
    const byRoles = ours.filter(({ userAgent }) => /^sluice\/\d/.test(userAgent));
    const agents = new Set(byRoles.map(({ user, userAgent }) => `${user.username} ${userAgent}`));
    expect([...agents].sort()).toEqual([
      expect.stringMatching(/:sluice-watcher sluice\/\S+ \(\S+\) watcher$/),
      expect.stringMatching(/:sluice-writer sluice\/\S+ \(\S+\) endpoint-controller$/),
      expect.stringMatching(/:sluice-writer sluice\/\S+ \(\S+\) endpointslice-controller$/),
      expect.stringMatching(/:sluice-writer sluice\/\S+ \(\S+\) writer$/),
    ]);
    expect(log.filter((line) => /forbidden|permission/i.test(line))).toEqual([]);
  });
});

function start(role: 'watcher' | 'reconciler' | 'writer', cluster: readonly string[]): void {
  const where = [
    '--bus',
    nats.url.replace('nats:', 'tls:'),
    '--store',
    redis.url,
    '--partitions',
    '4',
    '--metrics-bind-address',
    '0',
  ];
  roles.push(new RoleProcess(role, role, [...where, ...cluster], (name, line) => log.push(`${name}: ${line}`)));
}

/** Adds the logs of the roles to a failed expectation. */
function withLog(error: unknown): never {
  throw new Error(`${error}\n${log.slice(-30).join('\n')}`, { cause: error });
}

async function createPod(): Promise<void> {
  // A Pod on an unknown Node has no endpoint.
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };
  await kubectl(cluster.adminKubeconfig, ['create', '-f', '-'], JSON.stringify(node));
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-1', namespace: 'shop', labels: { app: 'web' } },
    spec: { containers: [{ name: 'web', image: 'web' }], nodeName: 'n1' },
  };
  await kubectl(cluster.adminKubeconfig, ['create', '-f', '-'], JSON.stringify(pod));
  const status = {
    phase: 'Running',
    podIP: '10.1.0.1',
    podIPs: [{ ip: '10.1.0.1' }],
    conditions: [{ type: 'Ready', status: 'True' }],
  };
  await admin(
    'patch',
    'pod',
    'web-1',
    '-n',
    'shop',
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status }),
  );
}

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** The permissions of an identity according to the API server (SelfSubjectRulesReview). */
async function rulesOf(identity: Identity): Promise<(verb: string, resource: string) => boolean> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: 'default' },
  };
  const args = ['create', '--validate=false', '-f', '-', '-o', 'json'];
  const answer = await kubectl(cluster.kubeconfigs[identity], args, JSON.stringify(review));
  const { resourceRules } = JSON.parse(answer).status as { readonly resourceRules: readonly Rule[] };
  return (verb, groupResource) => {
    const [resource = '', ...group] = groupResource.split('.');
    return resourceRules.some(
      ({ verbs, apiGroups = [], resources = [], resourceNames = [] }) =>
        resourceNames.length === 0 &&
        [verb, '*'].some((each) => verbs.includes(each)) &&
        [group.join('.'), '*'].some((each) => apiGroups.includes(each)) &&
        [resource, '*'].some((each) => resources.includes(each)),
    );
  };
}
