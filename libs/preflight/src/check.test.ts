import { expect, test } from 'vitest';
import { failed, listChecks, ok } from './check.ts';

test('text of an API server adds no lines and no escape codes', () => {
  const text = listChecks([
    failed('cluster a', 'version', 'refused\nok   cluster b   version   v1.36', 'upgrade\n  cluster b, all: fine'),
    ok('bus', 'connection', '\u001b[2J'),
  ]);
  expect(text.trimEnd().split('\n')).toEqual([
    'RESULT   ABOUT       CHECK        DETAIL',
    'failed   cluster a   version      refused ok   cluster b   version   v1.36',
    'ok       bus         connection   \\x1b[2J',
    '',
    'Recommendations:',
    '  cluster a, version: upgrade cluster b, all: fine',
  ]);
});
