import type { Server } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { type Clock, seededRandom, VirtualClock } from '@sluice/platform';
import { afterEach, expect, test, vi } from 'vitest';
import { reconnectPacing } from './reconnect-pacing.ts';
import { startProtocolServer } from './testing/protocol-server.ts';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const end of endings.splice(0).reverse()) await end();
});

const hour = 3_600_000;
const dateNow = Date.now;
const realTime: Clock = {
  now: dateNow,
  monotonic: () => performance.now(),
  schedule: () => () => {},
};

test('a client reconnects at once although the system clock was set back since its last attempt', async () => {
  const { port, connections, close } = await startProtocolServer();
  endings.push(close);
  const pacing = reconnectPacing(realTime, seededRandom(1));
  const connection = await connect({ servers: [`127.0.0.1:${port}`], maxReconnectAttempts: -1, ...pacing });
  endings.push(() => connection.close());
  vi.spyOn(Date, 'now').mockImplementation(() => dateNow() + hour);
  connections[0]?.destroy();
  await expect.poll(() => connections.length).toBe(2);
  await connection.flush();
  vi.restoreAllMocks();
  connections[1]?.destroy();
  await expect.poll(() => connections.length).toBe(3);
  await connection.flush();
});

test('attempts at one server are 100 to 300 ms apart, and those at others do not wait for them', () => {
  const clock = new VirtualClock(0);
  const { reconnectToServer } = reconnectPacing(clock, seededRandom(1));
  const delayOf = (listen: string) => {
    const choice = reconnectToServer?.([{ listen } as Server], null);
    if (choice === null || choice === undefined || !('delay' in choice)) throw new Error('no delay');
    return choice.delay;
  };
  expect(delayOf('a:1')).toBe(0);
  expect(delayOf('b:1')).toBe(0);
  const again = delayOf('a:1');
  expect(again).toBeGreaterThanOrEqual(100);
  expect(again).toBeLessThanOrEqual(300);
  clock.step(1_000);
  expect(delayOf('a:1')).toBe(0);
});
