import { readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import type { Access } from './access.ts';
import { checkPermissions } from './check-permissions.ts';
import { type ClusterWork, neededAccess } from './needed-access.ts';
import { usefulAccess } from './useful-access.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Granting {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
}

const granting = loadAll(
  readFileSync(new URL('../../../../infra/kubernetes/rbac.yaml', import.meta.url), 'utf8'),
) as readonly Granting[];

/** One line per permission: `verb group/resource/subresource namespace name`. */
function granted(role: string): string[] {
  return granting
    .filter(({ kind, metadata }) => kind.endsWith('Role') && metadata.name === role)
    .flatMap(({ rules = [], metadata: { namespace = '' } }) =>
      rules.flatMap(({ apiGroups, resources, resourceNames = [''], verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) =>
            resourceNames.flatMap((name) => verbs.map((verb) => `${verb} ${group}/${resource} ${namespace} ${name}`)),
          ),
        ),
      ),
    )
    .sort();
}

const line = ({ verb, group, resource, subresource, namespace = '', name = '' }: Access): string =>
  `${verb} ${group}/${[resource, subresource].filter(Boolean).join('/')} ${namespace} ${name}`;

test.each<[string, ClusterWork]>([
  ['sluice-watcher', 'watch'],
  ['sluice-writer', 'write'],
])('rbac.yaml grants %s exactly what is asked for', (role, work) => {
  const asked = [...neededAccess([work]), ...usefulAccess([work]).map(({ access }) => access)].map(line).sort();
  expect(granted(role)).toEqual(asked);
});

test('the EndpointSlice controller needs no permission for Endpoints', () => {
  const work = ['watch', 'write'] as const;
  const useful = (...controllers: readonly string[]) => usefulAccess(work, controllers).map(({ access }) => access);
  const resources = (accesses: readonly Access[]) => new Set(accesses.map(({ resource }) => resource));
  expect(resources(neededAccess(work, ['endpointslice']))).toEqual(
    new Set(['namespaces', 'services', 'pods', 'nodes', 'endpointslices']),
  );
  expect(resources(useful('endpointslice'))).not.toContain('endpoints');
  expect(resources(useful('endpoints'))).not.toContain('endpointslices');
  expect(
    neededAccess(work, ['endpointslicemirroring'])
      .map(line)
      .filter((one) => one.includes('/endpoints ')),
  ).toEqual(['list /endpoints  ', 'watch /endpoints  ', 'get /endpoints  ']);
});

describe('permissions', () => {
  const without = (...lines: string[]) =>
    checkPermissions('cluster c', 'write', async (accesses) => accesses.map((access) => !lines.includes(line(access))));

  test('that are all granted pass', async () => {
    expect(await without()).toMatchObject([{ result: 'ok', detail: expect.stringMatching(/^all \d+ granted$/) }]);
  });

  test('that are required and missing fail, with the user who lacks them if the server says who', async () => {
    const none = (user?: string) =>
      checkPermissions(
        'cluster c',
        'watch',
        async (accesses) => accesses.map(() => false),
        async () => user,
      );
    expect((await none('system:serviceaccount:sluice:sluice'))[0]?.detail).toMatch(
      /^user system:serviceaccount:sluice:sluice lacks: get namespaces/,
    );
    expect((await none())[0]?.detail).toMatch(/^missing: get namespaces/);
    expect(await without('update discovery.k8s.io/endpointslices  ', 'get /namespaces  kube-system')).toMatchObject([
      { result: 'failed', detail: 'missing: get namespaces kube-system, update endpointslices.discovery.k8s.io' },
    ]);
  });

  test('that are missing for the claim fail, because Sluice refuses the cluster then', async () => {
    expect(await without('update coordination.k8s.io/leases kube-system sluice')).toMatchObject([
      { result: 'failed', detail: expect.stringContaining('serves it only with --take-over') },
    ]);
    expect(await without('get coordination.k8s.io/leases kube-system sluice-namespaces')).toMatchObject([
      { result: 'warning', detail: expect.stringContaining('--namespaces') },
    ]);
  });

  test('that are optional and missing cause a warning with the effect', async () => {
    expect(await without('update /services/finalizers  ', 'create /events  ')).toMatchObject([
      { result: 'warning', detail: 'missing: create events; Sluice records no Events' },
      { result: 'warning', detail: expect.stringMatching(/^missing: update services\/finalizers; with OwnerRef/) },
    ]);
  });
});
