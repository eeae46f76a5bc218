import { expect, test } from 'vitest';
import { consoleLine } from './console-address.ts';

test('says which argument commands need if the console has another than the default address', () => {
  expect(consoleLine('127.0.0.1:10270')).toBe('Console: http://127.0.0.1:10270');
  expect(consoleLine('127.0.0.1:40123')).toBe(
    'Console: http://127.0.0.1:40123 (commands need --console http://127.0.0.1:40123)',
  );
});
