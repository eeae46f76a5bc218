import { describe, expect, it } from 'vitest';
import { disallowed, isAllowed } from './licenses.ts';

describe('isAllowed', () => {
  it.each(['MIT', 'MIT OR Apache-2.0', '(GPL-3.0-only OR MIT)', 'MIT AND ISC'])('accepts %s', (expression) => {
    expect(isAllowed(expression)).toBe(true);
  });

  it.each(['GPL-3.0-only', 'MIT AND GPL-3.0-only', 'Unknown', ''])('rejects "%s"', (expression) => {
    expect(isAllowed(expression)).toBe(false);
  });
});

it('names each version of a package under a disallowed license', () => {
  const packages = {
    MIT: [{ name: 'fine', versions: ['1.0.0'] }],
    'AGPL-3.0-only': [{ name: 'copyleft', versions: ['1.0.0', '2.0.0'] }],
  };
  expect(disallowed(packages)).toEqual(['copyleft@1.0.0 (AGPL-3.0-only)', 'copyleft@2.0.0 (AGPL-3.0-only)']);
});
