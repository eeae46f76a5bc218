/** Breaks each rule of the upstream controllers and verifies that its tests notice. See `--help`. */

import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '@sluice/platform/process';
import { flag, integer, list, runCommand, say, text } from '@sluice/program';
import { checkRules, findTests } from './check-rules.ts';
import { parityPage } from './page.ts';
import { fileOf, type Rule } from './rule.ts';
import { sections } from './rules.ts';

const root = join(import.meta.dirname, '../..');
const page = join(root, 'docs/reference/parity.md');
const allRules = sections.flatMap(({ rules }) => rules);

await runCommand({
  usage: 'npm run parity --',
  about: `Breaks each rule of docs/reference/parity.md in the way that conformance/parity/rules describes, and runs the tests that
hold it. They must pass as long as the rule is kept, and fail when it is broken. The checkout is not changed.
`,
  options: {
    rules: text('LIST', 'only these rules or sections, for example C5,D'),
    changed: text('REF', 'only rules of which a file has changed since this commit'),
    find: text('LIST', 'instead: print all tests in these folders that fail when a rule is broken'),
    'write-page': flag('instead: write the lists of docs/reference/parity.md'),
    processes: integer(2, 'processes that run tests'),
    quiet: flag('print only rules whose tests do not notice'),
  },
  async main({ rules: wanted, changed, find, processes, quiet, 'write-page': writePage }) {
    if (writePage) return writeFileSync(page, parityPage(readFileSync(page, 'utf8'), sections));
    const rules = touched(changed, selected(wanted));
    if (find !== undefined) return printTests(rules, list(find), processes);
    const unbreakable = rules.filter(({ broken }) => broken.length === 0);
    const breakable = rules.filter(({ broken }) => broken.length > 0);
    const startedAt = performance.now();
    let failed = 0;
    await checkRules(breakable, processes, ({ rule, problems, seconds }) => {
      const passed = problems.length === 0;
      if (!passed) failed += 1;
      if (!passed || !quiet)
        console.log(`${passed ? 'ok  ' : 'FAIL'} ${rule.id} ${rule.title}, ${seconds.toFixed(1)} s`);
      for (const problem of problems) console.log(`     ${problem}`);
    });
    say(`${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
    console.log(`${breakable.length - failed} passed, ${failed} failed, ${unbreakable.length} skipped`);
    return failed > 0 ? 1 : 0;
  },
});

/** @throws UsageError */
function selected(wanted: string | undefined): readonly Rule[] {
  if (wanted === undefined) return allRules;
  return list(wanted).flatMap((name) => {
    const found = allRules.filter(({ id }) => id === name || id.replace(/\d+$/, '') === name);
    if (found.length === 0) throw new UsageError(`no rule or section is named "${name}"`);
    return found;
  });
}

function touched(reference: string | undefined, rules: readonly Rule[]): readonly Rule[] {
  if (reference === undefined) return rules;
  const output = execFileSync('git', ['diff', '--name-only', reference, '--'], { cwd: root, encoding: 'utf8' });
  const files = new Set(output.split('\n'));
  const table = [...files].some((file) => file.startsWith('conformance/parity/'));
  return rules.filter(
    ({ broken }) =>
      table || broken.some(({ file, tests }) => [file, ...tests.map(fileOf)].some((one) => files.has(one))),
  );
}

async function printTests(rules: readonly Rule[], folders: readonly string[], processes: number): Promise<void> {
  const patterns = folders.map((folder) => (folder.endsWith('.ts') ? folder : `${folder}/**/*.test.ts`));
  const files = globSync(patterns, {
    cwd: root,
    exclude: ['**/node_modules/**', '**/*.int.test.ts', '**/*.site.test.ts'],
  });
  await findTests(rules, files, processes, (rule, { search, replace }, report) => {
    console.log(`${rule.id} ${rule.title}: ${JSON.stringify(search)} → ${JSON.stringify(replace)}`);
    if ('error' in report) console.log(`     ${report.error}`);
    else
      for (const result of report.results) {
        if (!result.passed) console.log(`     ${result.file} > ${result.name}`);
      }
  });
}
