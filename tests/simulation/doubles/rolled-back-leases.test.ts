import { VirtualClock } from '@sluice/platform';
import type { Leases } from '@sluice/store';
import { Lua } from '@sluice/store/redis/testing';
import { describe, expect, test } from 'vitest';
import { LossyStore } from './lossy-store.ts';
import { RedisStoreDouble } from './redis-store.ts';
import type { SimulatedStore, StoreObserver } from './simulated-store.ts';

const observer: StoreObserver = { claimed() {}, restored() {}, committed() {}, group() {}, replaced() {} };

const stores: Readonly<Record<string, (clock: VirtualClock) => Promise<SimulatedStore>>> = {
  'the model': async (clock) => new LossyStore({ clock, observer, fencing: true }),
  'the production scripts': async (clock) => new RedisStoreDouble({ lua: await Lua.load(), clock, observer }),
};

describe.each(Object.entries(stores))('a store that is rolled back, with %s', (_, create) => {
  test('has the leases of that time again, until they expire', async () => {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    const store = await create(clock);
    const { leases } = store.connect('any');
    const token = await acquire(leases, 'a');
    const backup = store.backup();
    await leases.leave('writer', 'a');
    expect(await acquire(leases, 'b')).toBeGreaterThan(token);
    backup.restore();
    expect((await leases.state('writer')).leases).toMatchObject([{ holder: 'a', fencingToken: token }]);
    clock.step(clock.now() + 1_001);
    expect(await acquire(leases, 'b')).toBeGreaterThan(token);
  });

  test('is rolled back to the same time again', async () => {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    const store = await create(clock);
    const { leases } = store.connect('any');
    await acquire(leases, 'a');
    const backup = store.backup();
    backup.restore();
    await leases.leave('writer', 'a');
    backup.restore();
    expect((await leases.state('writer')).leases).toMatchObject([{ holder: 'a' }]);
  });
});

async function acquire(leases: Leases, member: string): Promise<number> {
  const state = await leases.heartbeat({ group: 'writer', member, ttlMs: 1_000, release: [], acquire: ['0'] });
  return state.leases.find(({ holder }) => holder === member)?.fencingToken ?? 0;
}
