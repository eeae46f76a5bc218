import { expect, test } from 'vitest';
import { fetchFailure } from './ports.ts';

test.each<[string, unknown]>([
  [
    'connect ECONNREFUSED 127.0.0.1:1',
    new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') }),
  ],
  [
    'ECONNREFUSED',
    new TypeError('fetch failed', { cause: Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }) }),
  ],
  ['AggregateError', new TypeError('fetch failed', { cause: new AggregateError([]) })],
  ['fetch failed', new TypeError('fetch failed', { cause: 'unknown' })],
  ['fetch failed', new TypeError('fetch failed')],
  ['aborted', 'aborted'],
])('the reason of a failed request is %s', (reason, error) => {
  expect(fetchFailure(error)).toBe(reason);
});
