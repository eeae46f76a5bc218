import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createConsole, History, tapBus } from '@sluice/console';
import { ConsoleClient } from '@sluice/console/client';
import { logLines } from '@sluice/console/terminal';
import { FakeApiServer } from '@sluice/fake-apiserver';
import { parseServiceKey } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { printable } from '@sluice/platform/process';
import { advance } from '@sluice/platform/testing';
import { defaultSettings } from '@sluice/service-state';
import { MemoryStore } from '@sluice/store';
import { describe, expect, onTestFinished, test } from 'vitest';
import { partitions, startFleet } from './harness/fleet.ts';
import { RandomUser } from './harness/random-user.ts';
import { replayCase, replayLines } from './harness/replay-case.ts';
import { stateDifferences } from './harness/state-differences.ts';
import { storedStates } from './harness/stored-states.ts';

const caseFile = join(import.meta.dirname, 'cases/pod-deleted.jsonl');

async function clientOf(history: History, clock: VirtualClock): Promise<ConsoleClient> {
  const ports = { history, clock, logger: silentLogger, version: '0' };
  const app = await createConsole({ ...ports, sources: { clusters: () => [] }, access: { hosts: [] } });
  const server = createServer(app.handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await app.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return new ConsoleClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

test.each([
  ['encoded', 3, false],
  ['by reference', 2, true],
] as const)('an exported history replays to the stored state: messages %s', async (_, seed, byReference) => {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const server = new FakeApiServer({ clock, random: seededRandom(seed + 1), bookmarkIntervalMs: 60_000 });
  server.create('namespaces', { metadata: { name: 'shop' } });
  const user = new RandomUser(server, seededRandom(seed + 2), clock);
  const [store, history] = [new MemoryStore(), new History({ clock })];
  const settings = { ...defaultSettings, maxEndpointsPerSlice: 2 };
  const fleet = startFleet({
    ...{ server, clock, seed, settings, store, byReference },
    wrapBus: (bus) => tapBus(bus, history),
  });
  user.createInitialObjects();
  for (let step = 0; step < 60; step++) {
    user.step();
    await advance(clock, step % 3 === 0 ? 3_000 : 5);
  }
  await advance(clock, 60_000);
  await fleet.stop();
  const client = await clientOf(history, clock);
  const states = await storedStates(store, partitions);
  expect(states.size).toBeGreaterThan(1);
  for (const [key, stored] of states) {
    const log = await client.log(parseServiceKey(key));
    expect(log.complete, key).toBe(true);
    const replayed = replayLines(printable(logLines(log)), key);
    expect(stateDifferences(stored, replayed, { wasGone: true, isWorker: false }), key).toEqual([]);
  }
});

test('a Pod of three was deleted, with two endpoints per slice', () => {
  const state = replayCase(caseFile);
  expect(state.controller('endpointslice').trackers.counted).toMatchObject({
    endpoints: 3,
    slices: 2,
    desiredSlices: 2,
  });
  const ready = [...state.slices.values()].flatMap(({ slice }) =>
    (slice.endpoints ?? []).map((one) => one.conditions?.ready),
  );
  expect(ready.filter(Boolean)).toHaveLength(2);
});

describe('a file that is no exported history', () => {
  const lines = readFileSync(caseFile, 'utf8');
  const [first = ''] = lines.split('\n');
  test.each([
    ['', 'x: no messages'],
    [`${first}\n\n`, 'x:2: not JSON: '],
    [`${first}\n{"version":"1.0","kind":"\\u001b[2J"}\n`, 'x:2: kind "\\u001b[2J": expected one of '],
    [`${first}\n{"version":"2.0"}\n`, 'x:2: version 2.0: this program understands 1.x'],
    [`${first}\n${first.replace('"service":"svc-00000"', '"service":1')}`, 'x:2: change: key.service: '],
    [
      `${first}\n${first.replace('"service":"svc-00000"', '"service":"db"')}`,
      'x:2: a message of another Service than ',
    ],
    ['{"version":"1.6","kind":"resync","scope":{"partition":1},"reason":""}', 'x:1: resync is no message of a Service'],
  ])('%j', (text, expected) => {
    expect(() => replayLines(text, 'x')).toThrow(expected);
  });
});
