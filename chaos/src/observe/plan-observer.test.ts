import { MemoryBus, NetworkedBus, streamStart } from '@sluice/bus';
import { encodeMessage, type PlannedMutations } from '@sluice/messages';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { expect, test } from 'vitest';
import { PlanAssembler } from './plan-observer.ts';

const plan: PlannedMutations = {
  kind: 'mutations',
  key: { cluster: 'c', namespace: 'shop', service: 'web' },
  controller: 'endpointslice',
  plan: { epoch: 1, number: 1 },
  groups: [],
  events: [],
  incomplete: [],
  serviceUid: 'u',
  causes: { first: [{ description: 'Pod '.repeat(200), observedAt: 1 }], more: 0 },
  decidedAt: 0,
};

test('plans that travel in chunks are observed, although chunks are repeated', async () => {
  const records = new MemoryBus({ partitions: 1, limits: { recordBytes: 100, messageBytes: 100_000 } });
  const bus = new NetworkedBus(records, { clock: new VirtualClock(0), logger: silentLogger });
  const payload = encodeMessage(plan);
  await bus.append('mutations', 0, [{ key: 'k', id: '1', headers: {}, payload }]);
  const chunks = await records.read('mutations', 0, streamStart).next(1_000);
  expect(chunks.length).toBeGreaterThan(1);
  const observed: PlannedMutations[] = [];
  const assembler = new PlanAssembler((message) => observed.push(message));
  for (const chunk of [...chunks.slice(0, 2), ...chunks]) assembler.add(chunk);
  expect(observed).toEqual([plan]);
});
