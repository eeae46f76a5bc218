/** Fuzzes the decoders of outside input for a time. The last line counts the decoders. See `--help`. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { count, optionsGiven, positive, runProgram, say } from '@sluice/program';
import { fuzz } from './fuzz.ts';
import { fuzzTargets } from './targets.ts';

const HELP = `usage: npm run fuzz -- [options]

  --seconds N    time for all decoders together (60)
  --seed N       seed of the inputs; default: a new one, which is printed
  --save DIR     save the inputs that break a decoder here (.cache/fuzz)
`;

await runProgram(async () => {
  const given = optionsGiven({ seconds: '60', seed: undefined, save: '.cache/fuzz' }, HELP);
  if (given === undefined) return 0;
  const seed = given.seed === undefined ? Date.now() % 2 ** 31 : count('seed', given.seed);
  const perTargetMs = (positive('seconds', given.seconds) * 1000) / fuzzTargets.length;
  const now = () => performance.now();
  say(`seed ${seed}; npm run fuzz -- --seed ${seed} runs the same inputs`);
  let failed = 0;
  for (const target of fuzzTargets) {
    const until = now() + perTargetMs;
    const { runs, failures } = await fuzz(target, { seed, continues: () => now() < until, now });
    say(`${target.name}: ${runs} inputs, ${failures.length} failures`);
    if (failures.length > 0) failed++;
    for (const { run, reason, input } of failures) {
      mkdirSync(given.save, { recursive: true });
      const path = join(given.save, `${target.name.replaceAll(' ', '-')}-${seed}-${run}`);
      writeFileSync(path, input);
      say(`  run ${run}: ${reason}; input saved in ${path}`);
    }
  }
  process.stdout.write(`${fuzzTargets.length - failed} passed, ${failed} failed, 0 skipped\n`);
  return failed > 0 ? 1 : 0;
});
