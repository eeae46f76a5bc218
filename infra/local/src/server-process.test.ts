import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ServerProcess } from './server-process.ts';

test('a frozen program does nothing until it is resumed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-'));
  const log = join(directory, 'log');
  const program = `setInterval(() => console.log('tick'), 1)`;
  const server = new ServerProcess({ name: 'ticker', program: process.execPath, args: ['-e', program], log });
  const ticks = () => readFileSync(log, 'utf8').length;
  try {
    await server.start();
    await server.ready(async () => ticks() > 0, 30_000);
    await server.freeze();
    const frozen = ticks();
    await sleep(50);
    expect(ticks()).toBe(frozen);
    server.signal('SIGCONT');
    await expect.poll(ticks).toBeGreaterThan(frozen);
  } finally {
    await server.kill();
    rmSync(directory, { recursive: true });
  }
});
