/** Summarizes CPU profiles by package and by function. See `--help`. */

import { readFileSync } from 'node:fs';
import { UsageError } from '@sluice/platform/process';
import { count, parseCommandLine, runProgram } from '@sluice/program';
import { type CpuProfile, type Share, summarizeProfile } from './src/profile.ts';

const HELP = `usage: node bench/profile-summary.ts [--from S] [--to S] [--top N] FILE.cpuprofile ...

  --from S, --to S   only this part of the profile, in seconds from its start
  --top N            number of functions (25)
`;

function section(title: string, shares: readonly Share[], busy: number, count: number): string {
  const lines = shares.slice(0, count).map(({ name, milliseconds }) => {
    const percent = `${((milliseconds / busy) * 100).toFixed(1)} %`;
    return `  ${percent.padStart(7)} ${milliseconds.toFixed(0).padStart(7)} ms  ${name}`;
  });
  return `${title}\n${lines.join('\n')}\n`;
}

function main(): void {
  const line = parseCommandLine(
    { options: { from: '0', to: 'Infinity', top: '25' }, positionals: true },
    process.argv.slice(2),
  );
  if (line === 'help') return void process.stdout.write(HELP);
  if (line.positionals.length === 0) throw new UsageError('name at least one .cpuprofile file');
  const { from, to, top } = line.options;
  const [fromSecond, toSecond] = [Number(from), Number(to)];
  if (!(fromSecond >= 0 && toSecond > fromSecond))
    throw new UsageError(`--from ${from} --to ${to}: not a span of seconds`);
  const functions = count('top', top);
  for (const file of line.positionals) {
    const profile: CpuProfile = JSON.parse(readFileSync(file, 'utf8'));
    const summary = summarizeProfile(profile, { from: fromSecond, to: toSecond });
    const busy = summary.milliseconds - summary.idleMilliseconds;
    process.stdout.write(
      [
        `${file}: busy ${busy.toFixed(0)} ms of ${summary.milliseconds.toFixed(0)} ms\n`,
        section('self, by package', summary.selfByPackage, busy, functions),
        section('self, by function', summary.selfByFunction, busy, functions),
        section('with all they call', summary.totalByFunction, busy, functions),
      ].join('\n'),
    );
  }
}

await runProgram(main);
