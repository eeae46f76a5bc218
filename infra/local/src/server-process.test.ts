import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ServerProcess } from './server-process.ts';

test('a frozen program does nothing until it is resumed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-'));
  const [log, otherLog] = [join(directory, 'log'), join(directory, 'other')];
  const program = `setInterval(() => console.log('tick'), 1)`;
  const ticker = { name: 'ticker', program: process.execPath, args: ['-e', program] };
  const [server, other] = [new ServerProcess({ ...ticker, log }), new ServerProcess({ ...ticker, log: otherLog })];
  const ticks = () => readFileSync(log, 'utf8').length;
  try {
    await server.start();
    await server.ready(async () => ticks() > 0);
    await server.freeze();
    const frozen = ticks();
    // The same program, not frozen, ticks meanwhile.
    await other.start();
    await other.ready(async () => readFileSync(otherLog, 'utf8').length > 50);
    expect(ticks()).toBe(frozen);
    server.signal('SIGCONT');
    await expect.poll(ticks).toBeGreaterThan(frozen);
  } finally {
    await Promise.all([server.kill(), other.kill()]);
    rmSync(directory, { recursive: true });
  }
});
