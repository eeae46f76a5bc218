import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { runChaos } from './src/chaos-run.ts';
import { parseOptions } from './src/options.ts';
import { renderReport } from './src/report.ts';

/** The same one each time; another with `CHAOS_SEED=17`, one by chance with `CHAOS_SEED=random`. */
const fixedSeed = 1;
const given = process.env.CHAOS_SEED;
const seed = given === 'random' ? randomInt(1, 1_000_000) : Number(given ?? fixedSeed);

test('a fleet that is killed, frozen, restarted and robbed fifty times writes what it should, once and in order', async () => {
  const options = parseOptions(['--actions', '50', '--seed', String(seed)], () => seed);
  if (options === 'help') throw new Error('no help is wanted');
  const report = await runChaos(options, (line) => console.log(`chaos: ${line}`));
  console.log(renderReport(report));
  expect(report.violations).toEqual([]);
  expect(report.done).toHaveLength(50);
  expect(report.writes).toBeGreaterThan(100);
}, 600_000);
