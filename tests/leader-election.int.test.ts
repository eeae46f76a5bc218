import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ElectionTestbed } from './harness/election/index.ts';

/** Leader election on a real API server (ADR 0071). Its audit log shows who wrote when. */
const root = mkdtempSync(join(tmpdir(), 'sluice-election-'));
let testbed: ElectionTestbed;

beforeAll(async () => {
  // A process may stall for seconds on a busy machine.
  testbed = await ElectionTestbed.open(root, { leaseDurationMs: 8_000, renewDeadlineMs: 6_000, retryPeriodMs: 500 });
});

afterAll(async () => {
  await testbed?.close();
  rmSync(root, { recursive: true, force: true });
});

test('the page of the standby says that it has no history', async () => {
  await expect.poll(async () => (await testbed.states()).toSorted()).toEqual(['standby, without a history', 'watched']);
});

test.each([
  ['SIGKILL', 'SIGKILL'],
  ['SIGSTOP', 'exit status 1'],
  ['SIGTERM', 'exit status 0'],
] as const)(
  'after %s of the leader the standby writes without DNS, and no process writes after its lease expired or together with another',
  async (failure, expected) => {
    const { exit } = await testbed.takeOver(failure);
    expect(exit).toBe(expected);
    expect(new Set(testbed.writes().map(({ user }) => user)).size).toBeGreaterThan(1);
    expect(testbed.violations()).toEqual([]);
  },
);
