/** Sums up CPU profiles: what costs most, by package and by function. `--help` tells the rest. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type CpuProfile, type Share, summarizeProfile } from './src/profile.ts';

const HELP = `usage: node bench/profile-summary.ts [--from S] [--to S] [--top N] FILE.cpuprofile ...

  --from S, --to S   only this part of the profile, in seconds since its start
  --top N            so many functions (25)
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'string', default: '0' },
    to: { type: 'string', default: 'Infinity' },
    top: { type: 'string', default: '25' },
    help: { type: 'boolean', default: false },
  },
});

function section(title: string, shares: readonly Share[], busy: number, count: number): string {
  const lines = shares.slice(0, count).map(({ name, milliseconds }) => {
    const percent = `${((milliseconds / busy) * 100).toFixed(1)} %`;
    return `  ${percent.padStart(7)} ${milliseconds.toFixed(0).padStart(7)} ms  ${name}`;
  });
  return `${title}\n${lines.join('\n')}\n`;
}

if (values.help || positionals.length === 0) {
  process.stdout.write(HELP);
  process.exitCode = values.help ? 0 : 2;
}
for (const file of positionals) {
  const profile: CpuProfile = JSON.parse(readFileSync(file, 'utf8'));
  const summary = summarizeProfile(profile, { from: Number(values.from), to: Number(values.to) });
  const busy = summary.milliseconds - summary.idleMilliseconds;
  const top = Number(values.top);
  process.stdout.write(
    [
      `${file}: busy ${busy.toFixed(0)} ms of ${summary.milliseconds.toFixed(0)} ms\n`,
      section('self, by package', summary.selfByPackage, busy, top),
      section('self, by function', summary.selfByFunction, busy, top),
      section('with all they call', summary.totalByFunction, busy, top),
    ].join('\n'),
  );
}
