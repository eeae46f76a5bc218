import { tapBus } from '@sluice/console';
import { FakeApiServer } from '@sluice/fake-apiserver';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { RecordConverter } from '@sluice/recording';
import { expect, test } from 'vitest';
import { startFleet } from './harness/fleet.ts';
import { RandomUser } from './harness/random-user.ts';

let written = 0;

test.each(Array.from({ length: 40 }, (_, index) => index + 1))(
  'a recording of Sluice itself finds that each Pod ends up as it should appear: seed %d',
  async (seed) => {
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const server = new FakeApiServer({ clock, random: seededRandom(seed + 1), bookmarkIntervalMs: 60_000 });
    server.create('namespaces', { metadata: { name: 'shop' } });
    const user = new RandomUser(server, seededRandom(seed + 2), clock);
    const converter = new RecordConverter({
      ...silentLogger,
      error: (_, fields) => expect.unreachable(String(fields?.error)),
    });
    const ends: (string | null)[] = [];
    const recorder: Parameters<typeof tapBus>[2] = {
      add(topic, record) {
        for (const { startedAt, endedAt, end } of converter.convert(topic, record, clock.now())?.propagations ?? []) {
          expect(endedAt).toBeGreaterThanOrEqual(startedAt);
          ends.push(end);
        }
      },
    };
    const fleet = startFleet({ server, clock, seed, wrapBus: (bus) => tapBus(bus, undefined, recorder) });
    user.createInitialObjects();
    for (let step = 0; step < 60; step++) {
      user.step();
      await advance(clock, step % 5 === 0 ? 10_000 : 50);
    }
    await advance(clock, 60_000);
    await fleet.stop();
    expect(converter.open).toEqual([]);
    written += ends.filter((end) => end === 'written').length;
  },
);

test('the seeds have changes that were written', () => {
  expect(written).toBeGreaterThan(400);
});
