import { MemoryBus } from '@sluice/bus';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { MemoryClusterDirectory, MemoryDeadLetters, MemoryDocument, MemoryLeases, MemoryStore } from '@sluice/store';
import { expect, test } from 'vitest';
import { readFleet } from './bundle-files.ts';

const clock = new VirtualClock(1_000);

function memoryFleet() {
  return {
    bus: new MemoryBus({ partitions: 2 }),
    store: new MemoryStore(),
    leases: new MemoryLeases(clock),
    deadLetters: new MemoryDeadLetters(),
    directory: new MemoryClusterDirectory(),
    clusterPins: new MemoryDocument(),
    close: async () => 'closed' as const,
  };
}

test('reads partitions and dead letters, without the content of the dead letters', async () => {
  const fleet = memoryFleet();
  const record = { id: 'a', key: 'c/shop/web', headers: {}, payload: new TextEncoder().encode('content') };
  await fleet.deadLetters.add({
    ...{ topic: 'changes', partition: 0, offset: 7, deadLetteredAt: 5, reason: 'not JSON', record },
  });
  const files = new Map(
    (await readFleet(fleet, { clock, logger: silentLogger })).map(({ path, text }) => [path, JSON.parse(text)]),
  );
  expect(files.get('fleet/partitions.json')).toHaveLength(2);
  const letters = files.get('fleet/dead-letters.json');
  expect(letters).toMatchObject([{ name: 'changes/0/7', reason: 'not JSON' }]);
  expect(JSON.stringify(letters)).not.toContain('content');
});

test('what cannot be read is a file with the reason', async () => {
  const fleet = memoryFleet();
  fleet.bus.end = () => Promise.reject(new Error('no responders'));
  const files = await readFleet(fleet, { clock, logger: silentLogger });
  const partitions = files.find(({ path }) => path === 'fleet/partitions.json');
  expect(JSON.parse(partitions?.text ?? '')).toEqual({ error: 'no responders' });
  expect(files.map(({ path }) => path)).toContain('fleet/dead-letters.json');
});
