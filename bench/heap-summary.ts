/** Summarizes heap snapshots by owner. See `--help`. */

import { readFileSync } from 'node:fs';
import { UsageError } from '@sluice/platform/process';
import { count, parseCommandLine, runProgram } from '@sluice/program';
import { parseHeapSnapshot } from './src/heap/heap-snapshot.ts';
import { type Owner, summarizeHeap } from './src/heap/owners.ts';
import { packagesOfClasses } from './src/heap/packages.ts';

const HELP = `usage: node bench/heap-summary.ts [--top N] FILE.heapsnapshot ...

Each object counts for the nearest instance of a class that refers to it. The option \`--heap DIR\` of bench/clusters.ts writes
snapshots, for example of one process with 100 Services × 20 Pods:

  node bench/clusters.ts --clusters 1 --services 100 --pods 20 --heap heap

  --top N   number of owners (30)
`;

function section(title: string, owners: readonly Owner[], rows: number): string {
  const lines = owners.slice(0, rows).map(({ name, bytes, objects }) => {
    return `  ${(bytes / 1e6).toFixed(2).padStart(8)} MB ${String(objects).padStart(9)}  ${name}`;
  });
  return `${title}\n${lines.join('\n')}\n`;
}

function main(): void {
  const line = parseCommandLine({ options: { top: '30' }, positionals: true }, process.argv.slice(2));
  if (line === 'help') return void process.stdout.write(HELP);
  if (line.positionals.length === 0) throw new UsageError('name at least one .heapsnapshot file');
  const rows = count('top', line.options.top);
  const packages = packagesOfClasses();
  for (const file of line.positionals) {
    const { bytes, owners, fields, contents } = summarizeHeap(parseHeapSnapshot(readFileSync(file)), (name) =>
      packages.get(name),
    );
    const parts = [
      section('by owner', owners, rows),
      section('by field of the owner', fields, rows),
      section('by what they hold', contents, rows),
    ];
    process.stdout.write(`${file}: ${(bytes / 1e6).toFixed(1)} MB\n${parts.join('\n')}\n`);
  }
}

await runProgram(main);
