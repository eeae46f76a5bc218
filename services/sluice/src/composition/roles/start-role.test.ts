import { MemoryBus } from '@sluice/bus';
import { resolve } from '@sluice/configuration/testing';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { MemoryDeadLetters, MemoryLeases, MemoryStore } from '@sluice/store';
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
