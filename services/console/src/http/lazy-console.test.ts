import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { History } from '../history/history.ts';
import type { Console } from './create-console.ts';
import { lazyConsole } from './lazy-console.ts';

const closing: (() => Promise<unknown>)[] = [];
let clock: VirtualClock;
let history: History;
let console: Console;

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  history = new History({ clock, retentionMs: 1_000 });
  const ports = { clock, logger: silentLogger };
  console = lazyConsole({ history, sources: { clusters: () => [] }, access: { hosts: [] }, version: '0', ...ports });
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(): Promise<string> {
  const server = createServer(console.handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(
    () => console.close(),
    () => new Promise((resolve) => server.close(resolve)),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/overview`;
}

describe('lazyConsole', () => {
  test('expires the history before the first request, and answers concurrent first requests', async () => {
    history.add('changes', 0, { key: 'c/shop/web', id: '1', headers: {}, payload: new TextEncoder().encode('{}') });
    expect(history.bytes).toBeGreaterThan(0);
    for (let i = 0; i < 3; i++) clock.step(clock.now() + 60_000);
    expect(history.bytes).toBe(0);
    const url = await serve();
    const responses = await Promise.all([fetch(url), fetch(url)]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  });

  test('stops all timers and answers 503 when it is closed without having been created', async () => {
    await console.close();
    expect(clock.step(clock.now() + 600_000)).toBe(false);
    expect((await fetch(await serve())).status).toBe(503);
    expect(clock.step(clock.now() + 600_000)).toBe(false);
  });

  test('says that its modules cannot be loaded, and can still be closed', async () => {
    const url = await serve();
    vi.spyOn(history, 'expirePeriodically').mockImplementation(() => {
      throw new Error('broken');
    });
    const response = await fetch(url);
    expect(response.status).toBe(500);
    expect(response.headers.get('content-type')).toContain('text/plain');
    expect(await response.text()).toBe('cannot load the console; see the log of this process\n');
  });

  test('refuses requests once it is closed', async () => {
    const url = await serve();
    expect((await fetch(url)).status).toBe(200);
    await console.close();
    const response = await fetch(url);
    expect([response.status, await response.text()]).toEqual([503, 'the console is closing\n']);
    expect(clock.nextAt()).toBeUndefined();
  });
});
