import { isDeepStrictEqual } from 'node:util';
import { namespaceObject, nodeObject, podObject, podStatus, reference, serviceObject } from '@sluice/conformance';
import { until } from '@sluice/platform/testing';
import { type JsonObject, labelOf, listAt, objectAt, serviceNameLabel, textAt } from '@sluice/shadow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RealFleet } from './harness/real-fleet.ts';

/** `sluice compact` merges slices of a fleet on real NATS, Redis and kube-apiserver that deleted Pods have left partly empty. */
const namespaces = ['shop', 'depot'] as const;
const [max, podsPerService] = [4, 16];
const name = 'web';
let fleet: RealFleet;

beforeAll(async () => {
  fleet = await RealFleet.open({ controllers: { maxEndpointsPerSlice: max } });
  const { user } = fleet;
  await user.create('nodes', nodeObject({ name: 'node-1', zone: 'a' }));
  for (const [i, namespace] of namespaces.entries()) {
    await user.create('namespaces', namespaceObject(namespace));
    const spec = { selector: { app: name }, ports: [{ port: 80 }] };
    await user.create('services', serviceObject({ namespace, name, spec }));
    for (let n = 0; n < podsPerService; n++) {
      await user.create('pods', podObject({ namespace, name: `web-${n}`, labels: { app: name }, nodeName: 'node-1' }));
      const status = {
        phase: 'Running',
        ips: [`10.0.${i}.${n + 1}`],
        ready: true,
        since: '2026-01-01T00:00:00Z',
      } as const;
      await user.patch(reference('pods', { namespace, name: `web-${n}` }), podStatus(status), 'status');
    }
  }
  for (const role of ['watcher', 'reconciler', 'writer'] as const) fleet.start(role, role);
  for (const namespace of namespaces) await sizesBecome(namespace, [4, 4, 4, 4]);
  for (const namespace of namespaces) await keepOnePodPerSlice(namespace);
});

afterAll(() => fleet?.stop());

async function slicesOf(namespace: string): Promise<readonly JsonObject[]> {
  const slices = await fleet.user.list('endpointslices');
  return slices.filter(
    (slice) => textAt(slice.metadata, 'namespace') === namespace && labelOf(slice, serviceNameLabel) === name,
  );
}

const podsIn = (slice: JsonObject) =>
  listAt(slice, 'endpoints').map((endpoint) => textAt(objectAt(endpoint, 'targetRef'), 'name'));

const sizesOf = async (namespace: string) => (await slicesOf(namespace)).map((slice) => podsIn(slice).length).sort();

const sizesBecome = (namespace: string, sizes: readonly number[]) =>
  until(`slices of ${namespace} have ${sizes} endpoints`, async () =>
    isDeepStrictEqual(await sizesOf(namespace), sizes),
  );

const versionsOf = async (namespace: string) =>
  (await slicesOf(namespace)).map(({ metadata }) => textAt(metadata, 'resourceVersion'));

async function keepOnePodPerSlice(namespace: string): Promise<void> {
  for (const slice of await slicesOf(namespace)) {
    for (const pod of podsIn(slice).slice(1)) await fleet.user.delete(reference('pods', { namespace, name: pod }), 0);
  }
  await sizesBecome(namespace, [1, 1, 1, 1]);
}

const line = (namespace: string, requested: boolean) => ({
  ...{ namespace, service: name, slices: 4, after: 1, moved: 3, writes: 4, requested },
});

const linesOf = (output: string) =>
  output
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as { readonly namespace: string })
    .sort((a, b) => (a.namespace < b.namespace ? 1 : -1));

/** Waits until the store has the slices as they are, which is when the command finds all slices of these namespaces only. */
const found = (...expected: readonly (typeof namespaces)[number][]) =>
  expect
    .poll(async () => linesOf(await fleet.sluice('compact', '--dry-run', '--output', 'json')))
    .toMatchObject(expected.map((namespace) => line(namespace, false)));

test('--dry-run shows what would be merged and writes nothing', async () => {
  const before = await Promise.all(namespaces.map(versionsOf));
  await found(...namespaces);
  const table = await fleet.sluice('compact', '--dry-run');
  expect(table).toContain('2 Services: 8 slices become 2 with 8 writes (dry run).');
  expect(table).toMatch(/production +shop +web +4 +1 +3 +4/);
  // A change of another Service passes through the same fleet, so a request would have been handled by now.
  await fleet.user.create(
    'services',
    serviceObject({ namespace: 'shop', name: 'other', spec: { selector: { app: 'other' }, ports: [{ port: 80 }] } }),
  );
  await expect
    .poll(async () =>
      (await fleet.user.list('endpointslices')).some((slice) => labelOf(slice, serviceNameLabel) === 'other'),
    )
    .toBe(true);
  expect(await Promise.all(namespaces.map(versionsOf))).toEqual(before);
});

test('--namespace merges the slices of that namespace only', async () => {
  const depot = await versionsOf('depot');
  const pods = (await slicesOf('shop')).flatMap(podsIn).sort();
  const output = await fleet.sluice('compact', '--namespace', 'shop', '--output', 'json');
  expect(linesOf(output)).toMatchObject([line('shop', true)]);
  await sizesBecome('shop', [4]);
  expect((await slicesOf('shop')).flatMap(podsIn).sort()).toEqual(pods);
  expect(await versionsOf('depot')).toEqual(depot);
});

test('--max-writes leaves what exceeds it; without it, the rest is merged, and nothing is left to do', async () => {
  await found('depot');
  expect(await fleet.sluice('compact', '--max-writes', '3')).toContain('1 more Services exceed --max-writes');
  await found('depot');
  expect(await fleet.sluice('compact')).toContain('1 Services: 4 slices become 1 with 4 writes, requested.');
  await sizesBecome('depot', [4]);
  await found();
  expect(await fleet.sluice('compact')).toBe('No slices to merge.\n');
});
