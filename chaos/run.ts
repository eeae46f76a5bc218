/** Injects faults into a fleet on real servers and checks every write. See `--help`. */
import { randomInt } from 'node:crypto';
import { runProgram } from '@sluice/program';
import { runChaos } from './src/chaos-run.ts';
import { HELP, parseOptions } from './src/options.ts';
import { jsonReport, renderReport } from './src/report.ts';

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2), () => randomInt(1, 1_000_000));
  if (options === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  const report = await runChaos(options, (line) => void process.stderr.write(`chaos: ${line}\n`));
  const failed = report.violations.length > 0 ? 1 : 0;
  const total = `${1 - failed} passed, ${failed} failed, 0 skipped\n`;
  process.stdout.write(options.output === 'json' ? jsonReport(report) : `${renderReport(report)}${total}`);
  return failed;
}

await runProgram(main, 2);
