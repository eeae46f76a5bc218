import { expect, test } from 'vitest';
import { formatServiceKey, parseServiceKey } from './service-key.ts';

test('a service key round-trips, and other text is rejected (B1, B8)', () => {
  const key = { cluster: '3f1c-uid', namespace: 'shop', service: 'cart' };
  expect(parseServiceKey(formatServiceKey(key))).toEqual(key);
  for (const text of ['', 'a/b', 'a/b/c/d', 'a//c']) expect(() => parseServiceKey(text)).toThrow('expected CLUSTER');
});
