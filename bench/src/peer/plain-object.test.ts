import { expect, test } from 'vitest';
import { plainObject } from './plain-object.ts';

test('times become RFC 3339, absent fields go, and the rest stays', () => {
  const raw = { metadata: { creationTimestamp: new Date(0), uid: undefined }, ips: ['10.0.0.1'], ready: null, n: 0 };
  expect(plainObject(raw)).toEqual({
    metadata: { creationTimestamp: '1970-01-01T00:00:00.000Z' },
    ips: ['10.0.0.1'],
    ready: null,
    n: 0,
  });
});
