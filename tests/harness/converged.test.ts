import { FakeApiServer, type StoredObject } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { defaultSettings } from '@sluice/service-state';
import { expect, test } from 'vitest';
import { writesOfFreshStart } from './converged.ts';
import { startFleet } from './fleet.ts';
import { namespace, nodeObject, podObject } from './objects.ts';

const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
const options = { clock, seed: 1, settings: defaultSettings };

/** A Pod on an unknown Node has no zone and gets no hint, so every decision writes the slice again (F5, F6). */
async function converged(): Promise<{ readonly server: FakeApiServer; readonly slice: StoredObject }> {
  const server = new FakeApiServer({ clock, random: seededRandom(1) });
  server.create('namespaces', { metadata: { name: namespace } });
  for (const zone of ['a', 'b']) server.put('nodes', nodeObject(`node-${zone}`, zone));
  server.create('services', {
    metadata: { name: 'web', namespace, annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
    spec: {
      ...{
        selector: { app: 'web' },
        ports: [{ name: 'http', port: 80, targetPort: 8080 }],
        publishNotReadyAddresses: true,
      },
      ...{ clusterIP: '10.96.0.1', ipFamilies: ['IPv4'] },
    },
  });
  for (const [i, node] of ['node-a', 'node-b', 'node-b', 'unknown'].entries()) {
    const since = '2026-01-01T00:00:00Z';
    const given = { name: `web-${i}`, labels: { app: 'web' }, ips: [`10.1.0.${i + 1}`], ready: true, node, since };
    server.put('pods', podObject(given));
  }
  const fleet = startFleet({ server, ...options });
  await advance(clock, 60_000);
  await fleet.stop();
  const [slice] = server.list('endpointslices').items;
  if (slice === undefined) throw new Error('no slice was written');
  return { server, slice };
}

const withTime = ({ metadata, ...body }: StoredObject, time: string, fields: object = {}) => {
  const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': time };
  const entries = Object.entries({ ...metadata, annotations }).toReversed();
  return { ...body, ...fields, metadata: { ...Object.fromEntries(entries), name: metadata.name } };
};

test('a fresh start writes nothing if only the trigger time and the order of the fields differ', async () => {
  const { server, slice } = await converged();
  server.update('endpointslices', withTime(slice, '2026-01-01T00:00:30Z'));
  expect(await writesOfFreshStart(server, { ...options, onRequest: () => {} })).toEqual([]);
});

test('a fresh start updates a slice that differs otherwise', async () => {
  const { server, slice } = await converged();
  server.update('endpointslices', withTime(slice, '2026-01-01T00:00:30Z', { endpoints: [] }));
  expect(await writesOfFreshStart(server, { ...options, onRequest: () => {} })).toEqual([
    `a fresh start would still update endpointslices ${slice.metadata.name}`,
  ]);
});
