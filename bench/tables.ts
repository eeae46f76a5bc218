/** Writes the tables of measured results into the documentation. See `--help`. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flag, runCommand } from '@sluice/program';
import { pages, withTables } from './src/docs-tables.ts';

const root = join(import.meta.dirname, '..');

await runCommand({
  usage: 'node bench/tables.ts',
  about: `Writes the tables in ${pages.join(' and ')} from the results in bench/results,
and refuses to put results of several machines or commits into one table. Commit the results before the pages: a result
names the commit that was measured.
`,
  options: { check: flag('write nothing; exit status 1 if a page is not up to date') },
  main({ check }) {
    const outdated = pages.filter((page) => {
      const [file, directory] = [join(root, page), join(root, 'bench/results')];
      const before = readFileSync(file, 'utf8');
      const after = withTables(before, directory);
      if (after !== before && !check) writeFileSync(file, after);
      return after !== before;
    });
    for (const page of outdated)
      console.log(`${page} ${check ? 'is not up to date: node bench/tables.ts' : 'written'}`);
    return check && outdated.length > 0 ? 1 : 0;
  },
});
