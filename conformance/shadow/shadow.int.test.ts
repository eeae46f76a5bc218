import { objectAt } from '@sluice/shadow';
import { expect, test } from 'vitest';
import { describe, runInShadow } from './shadow-run.ts';

test('in shadow mode Sluice agrees with the upstream controllers and only reads', async () => {
  const options = { seed: 7, seconds: 20, rate: 8, checkpointEverySeconds: 10, namespaces: 2, gracePeriod: '5s' };
  const { differences, remainingDifferences, verbs, report, status, checkpoints } = await runInShadow(options);
  expect((differences.get('') ?? []).map(describe).join('\n')).toBe('');
  expect(remainingDifferences.map(describe).join('\n')).toBe('');
  expect([...verbs.keys()].sort()).toEqual(['get', 'list', 'watch']);
  expect(status).toBe(0);
  expect(checkpoints).toBeGreaterThan(0);
  // Which of them is sooner depends on how busy the machine is.
  expect(Number(report.decisions)).toBeGreaterThan(10);
  expect(Number(report.writes)).toBeGreaterThan(10);
  const services = objectAt(report, 'services');
  expect(services.agree).toBe(services.total);
});
