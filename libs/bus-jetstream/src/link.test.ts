import { expect, test } from 'vitest';
import { isSupported } from './link.ts';

test.each([
  ['2.9.10', false],
  ['2.13.9', false],
  ['2.14.0', true],
  ['2.15.2', true],
  ['2.14.0-RC.1', true],
  ['3.0.0', true],
  ['', false],
])('server %s is supported: %s', (version, supported) => {
  expect(isSupported(version)).toBe(supported);
});
