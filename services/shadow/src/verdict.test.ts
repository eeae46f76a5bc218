import { expect, test } from 'vitest';
import { verdictOf } from './verdict.ts';

const services = { total: 7, agree: 7, waiting: 0, explained: 0, unexplained: 0 };
const lasting = { explained: 0, unexplained: 0, resolved: 0 };
const compared = { ranMs: 1_800_000, writes: 4_812, services, lasting };

test('passes without unexplained differences', () => {
  expect(verdictOf(compared)).toEqual({
    result: 'pass',
    text: 'PASS: 0 unexplained differences after 30m, 4812 writes of other controllers compared',
  });
});

test('says how many differences were explained, and how many went away without an explanation', () => {
  const { text } = verdictOf({ ...compared, lasting: { explained: 1, unexplained: 2, resolved: 3 } });
  expect(text).toMatch(/compared, 1 difference explained, 2 unexplained for a time$/);
});

test('fails while a Service differs without an explanation, also if nobody else wrote', () => {
  const failed = { ...compared, writes: 1, services: { ...services, agree: 6, unexplained: 1 } };
  expect(verdictOf(failed)).toEqual({
    result: 'fail',
    text: 'FAIL: 1 Service with unexplained differences after 30m, 1 write of other controllers compared',
  });
  expect(verdictOf({ ...failed, writes: 0 }).result).toBe('fail');
});

test('is inconclusive if no other controller wrote', () => {
  expect(verdictOf({ ...compared, writes: 0 })).toEqual({
    result: 'inconclusive',
    text: 'INCONCLUSIVE: no other controller wrote in 30m, so nothing was compared',
  });
});
