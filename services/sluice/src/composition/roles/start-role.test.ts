import { MemoryBus } from '@sluice/bus';
import { resolve } from '@sluice/fleet/configuration/testing';
import { encodeMessage, noCauses } from '@sluice/messages';
import { aService } from '@sluice/model/testing';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryClusterDirectory, MemoryDeadLetters, MemoryLeases, MemoryStore } from '@sluice/store';
import { expect, test } from 'vitest';
import { startRole } from './start-role.ts';

test.each(['watcher', 'reconciler', 'writer'] as const)(
  'a %s records metrics only if they are served',
  async (role) => {
    const clock = new VirtualClock(1_000);
    const leases = new MemoryLeases(clock);
    const infrastructure = {
      ...{ bus: new MemoryBus({ partitions: 2 }), store: new MemoryStore() },
      ...{ leases, deadLetters: new MemoryDeadLetters() },
    };
    const start = (member: string, address: string) =>
      startRole({
        ...{ role, member, infrastructure, environment: {}, clock, random: seededRandom(1), logger: silentLogger },
        configuration: resolve({ flags: { '--metrics-bind-address': address } }).configuration,
      });
    const [uncounted, counted] = [start('uncounted', '0'), start('counted', '127.0.0.1:0')];
    await advance(clock, 5_000);
    expect(uncounted.metrics).toBeUndefined();
    expect(await counted.metrics?.text()).toContain('# TYPE sluice_lease_held gauge');
    if (role !== 'watcher') {
      const held = (await leases.state(role)).leases.map(({ holder }) => holder);
      expect(held.sort(), 'both do their share').toEqual(['counted', 'uncounted']);
    }
    const stopped = Promise.all([uncounted.stop(1_000), counted.stop(1_000)]);
    await advance(clock, 3_000);
    await stopped;
  },
);

test('the first sample of a new cluster has its name, which its watcher publishes with the first Changes', async () => {
  const clock = new VirtualClock(1_000);
  const bus = new MemoryBus({ partitions: 1 });
  const directory = new MemoryClusterDirectory();
  const infrastructure = {
    ...{ bus, directory, store: new MemoryStore() },
    ...{ leases: new MemoryLeases(clock), deadLetters: new MemoryDeadLetters() },
  };
  const reconciler = startRole({
    ...{ role: 'reconciler', member: 'a', infrastructure, environment: {}, clock },
    ...{ random: seededRandom(1), logger: silentLogger },
    configuration: resolve({ flags: { '--metrics-bind-address': '127.0.0.1:0' } }).configuration,
  });
  await advance(clock, 5_000);
  const resourceVersions = { endpoints: '1', endpointslices: '1' };
  const payload = encodeMessage({
    kind: 'change',
    key: { cluster: 'uid-1', namespace: 'shop', service: 'web' },
    stamp: { epoch: 1, sequence: 1 },
    facts: [{ kind: 'service', service: aService({}) }],
    resourceVersions,
    snapshot: { first: true, last: true, initial: true, resourceVersions },
    causes: noCauses,
  });
  await bus.append('changes', 0, [{ id: '1', key: 'uid-1/shop/web', headers: {}, payload }]);
  await advance(clock, 60);
  await directory.put({ identity: 'uid-1', name: 'west', version: '', server: '' });
  await advance(clock, 1_000);
  const text = (await reconciler.metrics?.text()) ?? '';
  expect(text).toMatch(/^endpoint_slice_controller_\w+\{cluster="west"/m);
  expect(text).not.toContain('uid-1');
  const stopped = reconciler.stop(1_000);
  await advance(clock, 3_000);
  await stopped;
});
