/** Fuzzes the decoders of outside input for a time. The last line counts the decoders. See `--help`. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { integer, positiveNumber, runCommand, say, textOr } from '@sluice/program';
import { fuzz } from './fuzz.ts';
import { fuzzTargets } from './targets.ts';

await runCommand({
  usage: 'npm run fuzz --',
  about: `Runs the decoders of API server and bus input on inputs derived from a corpus. A decoder fails if it throws an error other
than its own, or takes more than five seconds.
`,
  options: {
    seconds: positiveNumber(60, 'time for all decoders together'),
    seed: integer((Date.now() % 2 ** 31) + 1, 'seed of the inputs; a new one by default'),
    save: textOr('.cache/fuzz', 'DIR', 'where to save the inputs that break a decoder'),
  },
  async main({ seconds, seed, save }) {
    const perTargetMs = (seconds * 1000) / fuzzTargets.length;
    const now = () => performance.now();
    say(`seed ${seed}; npm run fuzz -- --seed ${seed} runs the same inputs`);
    let failed = 0;
    for (const target of fuzzTargets) {
      const until = now() + perTargetMs;
      const { runs, failures } = await fuzz(target, { seed, continues: () => now() < until, now });
      say(`${target.name}: ${runs} inputs, ${failures.length} failures`);
      if (failures.length > 0) failed++;
      for (const { run, reason, input } of failures) {
        mkdirSync(save, { recursive: true });
        const path = join(save, `${target.name.replaceAll(' ', '-')}-${seed}-${run}`);
        writeFileSync(path, input);
        say(`  run ${run}: ${reason}; input saved in ${path}`);
      }
    }
    process.stdout.write(`${fuzzTargets.length - failed} passed, ${failed} failed, 0 skipped\n`);
    return failed > 0 ? 1 : 0;
  },
});
