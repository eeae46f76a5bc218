import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repeatedSuites } from './repeated-suites.ts';

const root = join(import.meta.dirname, '..');
const groups = Object.values(repeatedSuites);

/** The patterns that a brace expression stands for, so that each alternative must match. */
function alternatives(pattern: string): readonly string[] {
  const [, before = '', choices, after = ''] = /^(.*?)\{([^}]*)\}(.*)$/.exec(pattern) ?? [];
  return choices === undefined
    ? [pattern]
    : choices.split(',').flatMap((choice) => alternatives(before + choice + after));
}

const patterns = groups.flatMap((group) =>
  group.patterns.flatMap(alternatives).map((pattern) => [pattern, group.projects[0]] as const),
);

test.each(patterns)('%s matches tests of project %s', (pattern, project) => {
  const files = globSync(pattern, { cwd: root });
  expect(files).not.toEqual([]);
  for (const file of files) expect(file.endsWith('.int.test.ts')).toBe(project === 'integration');
});

test('every integration test of a bus or store in conformance is in one group', () => {
  const repeated = groups.flatMap((group) => group.patterns.flatMap((pattern) => globSync(pattern, { cwd: root })));
  const missing = globSync('conformance/*.int.test.ts', { cwd: root }).filter((file) => !repeated.includes(file));
  expect(missing).toEqual(['conformance/protobuf.int.test.ts']);
  expect(new Set(repeated).size).toBe(repeated.length);
});
