/** Summarizes heap snapshots by owner. See `--help`. */

import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '@sluice/process';
import { count, parseCommandLine, runProgram } from '@sluice/program';
import { parseHeapSnapshot } from './src/heap/heap-snapshot.ts';
import { type Owner, summarizeHeap } from './src/heap/owners.ts';

const HELP = `usage: node bench/heap-summary.ts [--top N] FILE.heapsnapshot ...

Each object counts for the nearest instance of a class that refers to it. The option \`--heap DIR\` of bench/clusters.ts writes
snapshots, for example of one process with 100 Services × 20 Pods:

  node bench/clusters.ts --clusters 1 --services 100 --pods 20 --heap heap

  --top N   number of owners (30)
`;

const ROOT = dirname(import.meta.dirname);

/** The package that defines a class, by name. */
function packagesOfClasses(): ReadonlyMap<string, string> {
  const packages = new Map<string, string>();
  for (const file of globSync('{libs,services,infra}/**/*.ts', {
    cwd: ROOT,
    exclude: (name) => /node_modules|test/.test(name),
  })) {
    const [folder = '', name = ''] = file.split('/');
    for (const [, defined = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(
      /^(?:export )?(?:abstract )?class (\w+)/gm,
    ))
      packages.set(defined, `${folder}/${name}`);
  }
  return packages;
}

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
