import { expect, test } from 'vitest';
import { errorLines } from './error-lines.ts';

test('counts unexpected errors by message, and lines of a crash', () => {
  const log = [
    '{"level":"info","msg":"started"}',
    '{"level":"error","msg":"record dead-lettered"}',
    '{"level":"error","msg":"record dead-lettered"}',
    '{"level":"error","msg":"additions held back; the cluster does not confirm them"}',
    'TypeError: x is undefined',
    '',
  ].join('\n');
  expect(Object.fromEntries(errorLines(log))).toEqual({ 'record dead-lettered': 2, 'TypeError: x is undefined': 1 });
});
