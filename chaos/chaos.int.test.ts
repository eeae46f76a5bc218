import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { runChaos } from './src/chaos-run.ts';
import { parseOptions } from './src/options.ts';
import { renderReport } from './src/report.ts';

/** The same seed each time; `CHAOS_SEED=17` sets another one, `CHAOS_SEED=random` a random one. */
const fixedSeed = 1;
const given = process.env.CHAOS_SEED;
const seed = given === 'random' ? randomInt(1, 1_000_000) : Number(given ?? fixedSeed);

/** Each kind of action once, as far as the servers of this run allow it. */
const actions = 40;

test('a fleet of two clusters survives forty faults and data losses with every write correct, applied once and in order', async () => {
  const options = parseOptions(['--actions', String(actions), '--pause', '1000', '--seed', String(seed)], () => seed);
  if (options === 'help') throw new Error('unexpected --help');
  const report = await runChaos(options, (line) => console.log(`chaos: ${line}`));
  console.log(renderReport(report));
  expect(report.violations).toEqual([]);
  expect(report.done).toHaveLength(actions);
  expect(report.writes).toHaveLength(2);
  // The clusters share the changes.
  for (const writes of report.writes) expect(writes).toBeGreaterThan(25);
  expect(report.writes.reduce((sum, writes) => sum + writes)).toBeGreaterThan(100);
});
