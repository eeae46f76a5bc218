import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { controllers, descriptorOf } from '@sluice/controllers';
import { loadKubeconfig } from '@sluice/kubernetes';
import { type Access, type Check, type ClusterWork, checkCluster, permissions } from '@sluice/kubernetes/preflight';
import type { Controller } from '@sluice/model';
import { silentLogger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { loadAll } from 'js-yaml';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ControlPlane, kubectl, startControlPlane } from '../local/src/index.ts';
import { rbacManifests } from './rbac.ts';

/** Each controller alone on a real API server, with exactly the permissions that its manifests grant. */
const main = join(import.meta.dirname, '../../services/sluice/src/main.ts');
const user = 'system:serviceaccount:sluice:sluice';
let directory: string;
let cluster: ControlPlane;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-rbac-'));
  const options = { name: 'rbac', authorization: 'RBAC', grantSluice: false, audit: 'Metadata' } as const;
  cluster = await startControlPlane({ ...options, directory: join(directory, 'cluster') });
  await apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } });
});

afterAll(async () => {
  await cluster?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const admin = (...args: readonly string[]) => kubectl(cluster.adminKubeconfig, args);
const apply = (...items: readonly unknown[]) =>
  kubectl(cluster.adminKubeconfig, ['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Grants what the controller needs, but for one permission. */
async function grant(controller: Controller, denied?: Access): Promise<void> {
  const manifests = loadAll(rbacManifests([controller])) as readonly Manifest[];
  await apply(
    ...manifests.map((manifest) => ({
      ...manifest,
      ...(manifest.rules && { rules: denied === undefined ? manifest.rules : without(denied, manifest) }),
    })),
  );
}

function without(denied: Access, { rules = [], metadata }: Manifest): readonly Rule[] {
  const resource = [denied.resource, denied.subresource].filter(Boolean).join('/');
  const each = rules.flatMap((rule) =>
    rule.resources.flatMap((one) => rule.verbs.map((verb) => ({ ...rule, resources: [one], verbs: [verb] }))),
  );
  const isDenied = ({ apiGroups, resources, verbs, resourceNames }: Rule) =>
    metadata.namespace === denied.namespace &&
    apiGroups.includes(denied.group) &&
    resources.includes(resource) &&
    verbs.includes(denied.verb) &&
    (denied.name === undefined || resourceNames?.includes(denied.name) === true);
  return each.flatMap((rule) => {
    if (!isDenied(rule)) return rule;
    const others = rule.resourceNames?.filter((name) => name !== denied.name) ?? [];
    return others.length === 0 ? [] : { ...rule, resourceNames: others };
  });
}

const flagOf = (controller: Controller) => descriptorOf(controller).flags[0];

/** `sluice run` with one controller; `stop` returns its exit status and what it printed. */
function run(controller: Controller) {
  const flags = ['--kubeconfig', cluster.kubeconfigs.sluice, '--controllers', flagOf(controller)];
  const child = spawn(process.execPath, [main, 'run', ...flags, '--metrics-bind-address', '0', '-o', 'none']);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = new Promise<{ readonly status: number | null; readonly output: string }>((resolve) =>
    child.once('close', (status) => resolve({ status, output })),
  );
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  return { ended, stop };
}

const roles = { watch: 'watcher', write: 'writer' } as const;

/** What `sluice doctor` reports about the permissions of the role that does this work. */
async function doctor(controller: Controller, work: ClusterWork): Promise<readonly Check[]> {
  const access = await loadKubeconfig({ paths: [cluster.kubeconfigs[`sluice-${roles[work]}`]] });
  const ports = { clock: systemClock, random: systemRandom, logger: silentLogger };
  const checks = await checkCluster('rbac', access, ports, { controllers: new Set([controller]) });
  return checks.filter(({ check }) => check === `permissions of the ${roles[work]}`);
}

/** As in the messages of doctor. */
const textOf = ({ verb, group, resource, subresource, name, namespace }: Access) =>
  [
    `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}${group === '' ? '' : `.${group}`}`,
    ...(name === undefined ? [] : [name]),
    ...(namespace === undefined ? [] : [`in ${namespace}`]),
  ].join(' ');

/** Requests of Sluice since a line of the audit log. */
function requests(from: number) {
  const lines = readFileSync(cluster.auditLog ?? '', 'utf8')
    .trim()
    .split('\n');
  return lines
    .slice(from)
    .map((text) => JSON.parse(text))
    .filter((event) => event.user.username === user && event.objectRef !== undefined)
    .map(({ verb, objectRef, responseStatus }) => ({
      request: `${verb} ${objectRef.resource}`,
      code: Number(responseStatus?.code ?? 200),
    }));
}

const auditLines = () =>
  readFileSync(cluster.auditLog ?? '', 'utf8')
    .trim()
    .split('\n').length;

/** A Service with a ready Pod, and one whose Endpoints a user writes. */
async function createServices(namespace: string): Promise<void> {
  const ports = [{ port: 80 }];
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await apply(
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace } },
      spec: { selector: { app: 'web' }, ports },
    },
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'own', namespace }, spec: { ports } },
    {
      ...{ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'own', namespace } },
      subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports }],
    },
    {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-1', namespace, labels: { app: 'web' } } },
      spec: { nodeName: 'node-a', containers: [{ name: 'web', image: 'web' }] },
    },
  );
  const conditions = [{ type: 'Ready', status: 'True' }];
  const status = { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }], conditions };
  const patch = ['--subresource=status', '--type=merge', '--patch', JSON.stringify({ status })];
  await admin('patch', 'pod', 'web-1', `--namespace=${namespace}`, ...patch);
}

/** Names of the objects that controllers wrote, without their generated ends. */
async function written(namespace: string): Promise<readonly string[]> {
  const names = await admin('get', 'endpoints,endpointslices', `--namespace=${namespace}`, '--output=name');
  const all = names
    .trim()
    .split('\n')
    .filter((name) => name !== 'endpoints/own' && name !== '');
  return all.map((name) => name.replace(/\.discovery\.k8s\.io|-\w+$/g, ''));
}

const writes: Readonly<Record<string, string>> = {
  endpoints: 'endpoints/web',
  endpointslice: 'endpointslice/web',
  endpointslicemirroring: 'endpointslice/own',
};

const works = ['watch', 'write'] as const;
const needs = (controller: Controller) =>
  works.flatMap((work) => permissions(work, [controller]).map((one) => ({ ...one, work })));

async function grantAll(controller: Controller): Promise<void> {
  await grant(controller);
  // Changes of permissions take effect with a delay.
  for (const work of works) await expect.poll(() => doctor(controller, work)).toMatchObject([{ result: 'ok' }]);
}

test.each(controllers)(
  '%s alone converges, is refused nothing, and requests only what it needs',
  async (controller) => {
    await grantAll(controller);
    const [namespace, from] = [`only-${controller}`, auditLines()];
    await createServices(namespace);
    const sluice = run(controller);
    await expect.poll(() => written(namespace)).toEqual([writes[controller]]);
    await admin('delete', 'service', 'web', 'own', `--namespace=${namespace}`);
    // Slices whose owner is the Service are left to the garbage collector, which does not run here.
    const remains = controller === 'endpointslice' ? [writes[controller]] : [];
    await expect.poll(() => written(namespace)).toEqual(remains);
    expect(await sluice.stop()).toMatchObject({ status: 0 });
    await expect.poll(() => requests(from).length).toBeGreaterThan(0);
    const made = requests(from);
    const needed = new Set(needs(controller).map(({ access }) => access.resource));
    expect(made.filter(({ code }) => code === 403)).toEqual([]);
    const others = made.filter(({ request }) => !needed.has(request.split(' ')[1] ?? ''));
    expect(new Set(others.map(({ request }) => request.replace(/.* selfsubject\w+/, 'review')))).toEqual(
      new Set(['review']),
    );
  },
);

describe('the EndpointSlice controller alone', () => {
  const controller = 'endpointslice';
  beforeEach(() => grantAll(controller));

  test.each(needs(controller).map((one) => [roles[one.work], textOf(one.access), one] as const))(
    'if the %s may not %s, doctor says so, and Sluice does not start if it needs that',
    async (_role, text, { access, without, work }) => {
      await grant(controller, access);
      await expect
        .poll(() => doctor(controller, work))
        .toContainEqual(
          expect.objectContaining({
            result: expect.stringMatching(/^(failed|warning)$/),
            detail: expect.stringContaining(without === undefined ? text : `missing: ${text}`),
          }),
        );
      if (without !== undefined)
        return expect((await doctor(controller, work)).map(({ detail }) => detail).join()).toContain(without);
      const { verb, resource, group, name } = access;
      const target = `${resource}${group === '' ? '' : `.${group}`}${name === undefined ? '' : `/${name}`}`;
      const { status, output } = await run(controller).ended;
      expect(status).toBe(2);
      expect(output).toContain(`does not allow user ${user}: `);
      expect(output).toContain(`${verb} on ${target}`);
    },
  );
});
