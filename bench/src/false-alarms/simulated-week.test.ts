import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { simulateWeek } from './simulated-week.ts';

test('on a day of ordinary operations, every incident is found and nothing else', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-simulated-week-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const { findings, truth } = await simulateWeek({ directory, days: 1, services: 20, seed: 1, say: () => {} });
  expect(findings.filter((one) => !truth.isTrue(one))).toEqual([]);
  expect(truth.incidents.length).toBeGreaterThan(5);
  expect(truth.expected.filter((one) => !truth.isFound(one, findings))).toEqual([]);
});
