import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { runChaos } from './src/chaos-run.ts';
import { parseOptions } from './src/options.ts';
import { renderReport } from './src/report.ts';

/** The same seed each time; `CHAOS_SEED=17` sets another one, `CHAOS_SEED=random` a random one. */
const fixedSeed = 1;
const given = process.env.CHAOS_SEED;
const seed = given === 'random' ? randomInt(1, 1_000_000) : Number(given ?? fixedSeed);

test('a fleet survives fifty kills, freezes, restarts and data losses with every write correct, applied once and in order', async () => {
  const options = parseOptions(['--actions', '50', '--seed', String(seed)], () => seed);
  if (options === 'help') throw new Error('unexpected --help');
  const report = await runChaos(options, (line) => console.log(`chaos: ${line}`));
  console.log(renderReport(report));
  expect(report.violations).toEqual([]);
  expect(report.done).toHaveLength(50);
  for (const writes of report.writes) expect(writes).toBeGreaterThan(100);
}, 600_000);
