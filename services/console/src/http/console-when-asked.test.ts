import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { silentLogger, VirtualClock } from '@sluice/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { History } from '../history/history.ts';
import { consoleWhenAsked } from './console-when-asked.ts';

const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
const history = new History({ clock, retentionMs: 1_000 });
const ports = { clock, logger: silentLogger };
const console = consoleWhenAsked({
  ...{ history, sources: { clusters: () => [] }, access: { hosts: [] }, version: '0', ...ports },
});
const server = createServer(console.handle);
const payload = new TextEncoder().encode('{}');

afterEach(async () => {
  server.close();
  await console.close();
});

describe('a console that is made when it is asked for', () => {
  test('lets nothing grow old before, and answers the first requests together', async () => {
    history.add('changes', { key: 'c/shop/web', id: '1', headers: {}, payload });
    expect(history.bytes).toBeGreaterThan(0);
    for (let i = 0; i < 3; i++) clock.step(clock.now() + 60_000);
    expect(history.bytes).toBe(0);

    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/overview`;
    const answers = await Promise.all([fetch(url), fetch(url)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });

  test('that nobody asked for is closed at once', async () => {
    const idle = consoleWhenAsked({
      history,
      sources: { clusters: () => [] },
      access: { hosts: [] },
      version: '0',
      ...ports,
    });
    await idle.close();
    expect(clock.step(clock.now() + 600_000)).toBe(false);
    const late = createServer(idle.handle);
    await new Promise<void>((resolve) => late.listen(0, '127.0.0.1', resolve));
    const { status } = await fetch(`http://127.0.0.1:${(late.address() as AddressInfo).port}/api/v1/overview`);
    expect(status).toBe(503);
    expect(clock.step(clock.now() + 600_000)).toBe(false);
    late.close();
  });
});
