import { describe, expect, test } from 'vitest';
import { checkPermissions } from './check-permissions.ts';
import { type Access, permissions } from './permissions.ts';

const line = ({ verb, group, resource, subresource, namespace = '', name = '' }: Access): string =>
  `${verb} ${group}/${[resource, subresource].filter(Boolean).join('/')} ${namespace} ${name}`;

test('the EndpointSlice controller needs no permission for Endpoints', () => {
  const lines = (...controllers: readonly string[]) =>
    (['watch', 'write'] as const).flatMap((work) => permissions(work, controllers).map(({ access }) => line(access)));
  const of = (resource: string, all: readonly string[]) => all.filter((one) => one.includes(`/${resource}`));
  expect(of('endpoints ', lines('endpointslice'))).toEqual([]);
  expect(of('endpoints/', lines('endpointslice'))).toEqual([]);
  expect(of('endpointslices', lines('endpoints'))).toEqual([]);
  expect(of('endpoints ', lines('endpointslicemirroring'))).toEqual([
    ...['list /endpoints  ', 'watch /endpoints  ', 'get /endpoints  '],
  ]);
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
