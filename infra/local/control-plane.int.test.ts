import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlPlane, kubectl, RBAC_FILE, startControlPlane, startKubeControllerManager } from './src/index.ts';

const root = mkdtempSync(join(tmpdir(), 'sluice-local-'));
const directory = join(root, 'cluster');
let cluster: ControlPlane;

beforeAll(async () => {
  cluster = await startControlPlane({
    directory,
    name: 'local',
    authorization: 'RBAC',
    grantSluice: false,
    audit: 'Metadata',
  });
});

afterAll(async () => {
  await cluster?.stop();
  rmSync(root, { recursive: true, force: true });
});

const admin = (...args: string[]) => kubectl(cluster.adminKubeconfig, args);
const sluice = (...args: string[]) => kubectl(cluster.kubeconfigs.sluice, args);

/** Asks the API server with SelfSubjectAccessReview, as `sluice`. `object`: `namespace/name`, or `namespace/` for any name. */
async function mayI(verb: string, resourceAndMore: string, object: string): Promise<boolean> {
  const [groupResource = '', subresource = ''] = resourceAndMore.split('/');
  const [resource = '', ...group] = groupResource.split('.');
  const [namespace, name] = object.split('/');
  const resourceAttributes = { verb, group: group.join('.'), resource, subresource, namespace, name };
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  };
  const args = ['create', '--validate=false', '-f', '-', '-o', 'jsonpath={.status.allowed}'];
  return (await kubectl(cluster.kubeconfigs.sluice, args, JSON.stringify(review))) === 'true';
}

/** `resource.group/subresource`, verbs, and `namespace/name` of the object; default: any object of the namespace `default`. */
type Permissions = readonly [resource: string, verbs: readonly string[], object?: string];

/** Not derived from rbac.yaml, because that is what is tested. */
const NEEDED: readonly Permissions[] = [
  ['services', ['get', 'list', 'watch']],
  ['pods', ['get', 'list', 'watch']],
  ['nodes', ['get', 'list', 'watch']],
  ['endpoints', ['get', 'list', 'watch', 'create', 'update', 'delete']],
  ['endpoints/restricted', ['create']],
  ['endpoints/finalizers', ['update']],
  ['services/finalizers', ['update']],
  ['endpointslices.discovery.k8s.io', ['get', 'list', 'watch', 'create', 'update', 'delete']],
  ['events', ['create', 'patch']],
  ['pods', ['list'], 'kube-system/'],
  ['leases.coordination.k8s.io', ['get'], 'kube-system/kube-controller-manager'],
  ['leases.coordination.k8s.io', ['get', 'update'], 'kube-system/sluice'],
  ['leases.coordination.k8s.io', ['get', 'update'], 'kube-system/sluice-namespaces'],
];

const FORBIDDEN: readonly Permissions[] = [
  ['pods', ['create', 'update', 'patch', 'delete']],
  ['pods/exec', ['create']],
  ['services', ['create', 'update', 'patch', 'delete']],
  ['services/status', ['update']],
  ['nodes', ['update', 'delete']],
  ['secrets', ['get', 'list', 'watch']],
  ['configmaps', ['get', 'list']],
  ['namespaces', ['list', 'watch', 'delete']],
  ['endpoints', ['deletecollection']],
  ['endpointslices.discovery.k8s.io', ['deletecollection']],
  ['clusterrolebindings.rbac.authorization.k8s.io', ['create', 'list']],
  ['serviceaccounts/token', ['create']],
  ['leases.coordination.k8s.io', ['create', 'list', 'watch'], 'kube-system/'],
  ['leases.coordination.k8s.io', ['update', 'patch', 'delete'], 'kube-system/kube-controller-manager'],
  ['leases.coordination.k8s.io', ['get'], 'kube-system/kube-scheduler'],
  ['leases.coordination.k8s.io', ['delete'], 'kube-system/sluice'],
  ['leases.coordination.k8s.io', ['get', 'update'], 'default/sluice'],
];

const spread = (table: readonly Permissions[]) =>
  table.flatMap(([resource, verbs, object = 'default/']) => verbs.map((verb) => ({ verb, resource, object })));

describe('a control plane under RBAC', () => {
  it('authenticates sluice but grants it nothing before rbac.yaml is applied', async () => {
    expect(await sluice('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')).toBe(
      'system:serviceaccount:sluice:sluice',
    );
    await expect(sluice('get', 'services', '-A')).rejects.toThrow(/Forbidden.*cannot list resource "services"/);
    await admin('apply', '-f', RBAC_FILE);
    expect(await sluice('get', 'services', '-A', '-o', 'name')).toContain('service/kubernetes');
  });

  it('grants it what it needs and nothing else (A12)', async () => {
    const wrong: string[] = [];
    for (const { verb, resource, object } of spread(NEEDED)) {
      if (!(await mayI(verb, resource, object))) wrong.push(`may not ${verb} ${resource} ${object}`);
    }
    for (const { verb, resource, object } of spread(FORBIDDEN)) {
      if (await mayI(verb, resource, object)) wrong.push(`may ${verb} ${resource} ${object}`);
    }
    expect(wrong).toEqual([]);
  });

  it('lets it read the namespace kube-system, which identifies the cluster, and no other', async () => {
    expect(await sluice('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')).toMatch(
      /^[0-9a-f-]{36}$/,
    );
    await expect(sluice('get', 'namespace', 'default')).rejects.toThrow(/Forbidden/);
  });

  it('lets it set blockOwnerDeletion in owner references, because of the finalizers permission', async () => {
    await admin('create', 'service', 'clusterip', 'owned', '--tcp=80:80');
    const uid = await admin('get', 'service', 'owned', '-o', 'jsonpath={.metadata.uid}');
    const owner = { apiVersion: 'v1', kind: 'Service', name: 'owned', uid, controller: true, blockOwnerDeletion: true };
    const slice = (name: string) =>
      JSON.stringify({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name, ownerReferences: [owner] },
        addressType: 'IPv4',
        endpoints: [],
        ports: [],
      });
    await kubectl(cluster.kubeconfigs.sluice, ['create', '-f', '-'], slice('owned-1'));

    // The same request must fail without the permission, or the test proves nothing.
    const writer = JSON.parse(await admin('get', 'clusterrole', 'sluice-writer', '-o', 'json'));
    const rules = writer.rules.filter(
      (rule: { resources: string[] }) => !rule.resources.includes('services/finalizers'),
    );
    await kubectl(cluster.adminKubeconfig, ['replace', '-f', '-'], JSON.stringify({ ...writer, rules }));
    await expect(kubectl(cluster.kubeconfigs.sluice, ['create', '-f', '-'], slice('owned-2'))).rejects.toThrow(
      /finalizers/,
    );
    await admin('apply', '-f', RBAC_FILE);
  });

  it('runs the upstream controllers, also after a crash of kube-apiserver', async () => {
    const peer = await startKubeControllerManager(cluster, { serviceAccountCredentials: true });
    // Fails with the end of the program's log if it exits.
    const servesNew = async (name: string) => {
      await admin('create', 'service', 'clusterip', name, '--tcp=80:80');
      const ofService = ['-l', `kubernetes.io/service-name=${name}`, '-o', 'name'];
      await peer.ready(async () => (await admin('get', 'endpointslices', ...ofService)).includes(`${name}-`));
    };
    try {
      // It exits if the API server does not answer within 10 s of its start, so the crash comes later.
      await servesNew('before');
      await cluster.processes.kubeApiserver.kill();
      await cluster.processes.kubeApiserver.start();
      await cluster.ready();
      await servesNew('after');
    } finally {
      await peer.stop();
    }
    expect(peer.running).toBe(false);
  });

  it('leaves nothing running, and an audit log', async () => {
    await cluster.stop();
    expect(cluster.processes.etcd.pid).toBeUndefined();
    expect(cluster.processes.kubeApiserver.pid).toBeUndefined();
    const left = execFileSync('ps', ['-ww', '-eo', 'args='])
      .toString()
      .split('\n')
      .filter((line) => line.includes(directory));
    expect(left).toEqual([]);
    expect(readFileSync(cluster.auditLog ?? '', 'utf8')).toContain('"username":"system:serviceaccount:sluice:sluice"');
  });
});
