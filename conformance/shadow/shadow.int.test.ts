import { objectAt } from '@sluice/shadow';
import { expect, test } from 'vitest';
import { describe, runInShadow } from './shadow-run.ts';

test('in the shadow of the genuine controllers Sluice agrees with them, is seldom later, and only reads', async () => {
  const options = { seed: 7, seconds: 20, rate: 8, restEverySeconds: 10, worlds: 2, settle: '5s' };
  const { differences, differencesAtRest, verbs, report, status, restPoints } = await runInShadow(options);
  expect((differences.get('') ?? []).map(describe).join('\n')).toBe('');
  expect(differencesAtRest.map(describe).join('\n')).toBe('');
  expect([...verbs.keys()].sort()).toEqual(['get', 'list', 'watch']);
  expect(status).toBe(0);
  expect(restPoints).toBeGreaterThan(0);
  expect(Number(objectAt(report, 'sooner').count)).toBeGreaterThan(10);
  const services = objectAt(report, 'services');
  expect(services.agree).toBe(services.total);
}, 300_000);
