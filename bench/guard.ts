/** Detects a clear loss of speed. See `--help`. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBinaries } from '@sluice/local';
import { flag, runCommand, say } from '@sluice/program';
import { calibrate } from './src/calibrate.ts';
import { rotate } from './src/conditions.ts';
import { CONTROLLERS } from './src/controllers.ts';
import { measure } from './src/measure.ts';
import { flips } from './src/phase.ts';
import { Replay } from './src/replay-cost.ts';
import type { Run } from './src/results.ts';
import { median } from './src/statistics.ts';
import { summarize } from './src/summary.ts';

const BUDGET = join(import.meta.dirname, 'budget.json');
/** Limit as a multiple of the budget; the same program varies between 0.9 and 1.5, the latter under heavy load. */
const MOST_OF_BUDGET = 2.5;
/** A new Node process compiles code during the first changes. */
const WARM_UP_LOAD = { ...flips(100, 3), name: 'warm-up' };
/** Slow enough to leave two processors idle time; otherwise latency depends on queueing. */
const LOAD = flips(30, 5);
/** Limits of Sluice divided by kube-controller-manager with raised limits, medians of three rounds; above observed noise. */
const LIMITS = { cpuMsPerFlip: 3, p50: 4 } as const;
const SHAPES = [
  { services: 20, pods: 10 },
  { services: 1, pods: 500 },
] as const;
const [ROUNDS, CHANGES, WARM_UP] = [20, 100, 10];

interface Verdict {
  readonly what: string;
  readonly value: number;
  readonly limit: number;
}

/** The cheapest round shows what the program needs; the others include other load on the machine. */
async function replayCost(shape: (typeof SHAPES)[number]): Promise<number> {
  const replay = new Replay(shape);
  const costs: number[] = [];
  const units: number[] = [];
  try {
    for (let round = 0; round < WARM_UP + ROUNDS; round++) {
      const [unit, cost] = [calibrate(1000), await replay.round(CHANGES)];
      if (round < WARM_UP) continue;
      units.push(unit);
      costs.push(cost);
    }
  } finally {
    await replay.stop();
  }
  return Math.min(...costs) / Math.min(...units);
}

async function replays(update: boolean): Promise<readonly Verdict[]> {
  const budget: Record<string, number> = JSON.parse(readFileSync(BUDGET, 'utf8'));
  const verdicts: Verdict[] = [];
  for (const shape of SHAPES) {
    const name = `${shape.services}x${shape.pods}`;
    const units = await replayCost(shape);
    if (update) budget[name] = Number(units.toPrecision(3));
    const limit = (budget[name] ?? 0) * MOST_OF_BUDGET;
    verdicts.push({ what: `CPU per change at ${name}, in calibration units`, value: units, limit });
  }
  if (update) writeFileSync(BUDGET, `${JSON.stringify(budget, undefined, 2)}\n`);
  return verdicts;
}

async function comparison(): Promise<readonly Verdict[]> {
  await ensureBinaries(say);
  const directory = mkdtempSync(join(tmpdir(), 'sluice-guard-'));
  const controllers = CONTROLLERS.filter(({ name }) => name === 'sluice' || name === 'kcm-raised');
  const shape = { services: 20, pods: 20 };
  const runs: Run[] = [];
  for (const round of [1, 2, 3]) {
    for (const controller of rotate(controllers, round)) {
      const phases = [WARM_UP_LOAD, LOAD];
      const options = { directory: join(directory, 'cluster'), shape, phases, timeoutSeconds: 60, fsync: false, say };
      runs.push(await measure(controller, round, options));
    }
  }
  rmSync(directory, { recursive: true, force: true });
  const [mine, theirs] = ['sluice', 'kcm-raised'].map(
    (name) =>
      summarize({ runs })
        .find(({ controller }) => controller === name)
        ?.rates.find(({ phase }) => phase === LOAD.name)?.figures,
  );
  const ratio = (column: keyof typeof LIMITS): Verdict => ({
    what: `${column} at ${LOAD.name}, divided by kube-controller-manager's`,
    value: (mine?.[column].median ?? Number.NaN) / (theirs?.[column].median ?? Number.NaN),
    limit: LIMITS[column],
  });
  const missing = median(
    runs.filter(({ controller }) => controller === 'sluice').map(({ rates }) => rates.at(-1)?.missing ?? 0),
  );
  return [ratio('cpuMsPerFlip'), ratio('p50'), { what: 'flips that never became visible', value: missing, limit: 0 }];
}

await runCommand({
  usage: 'node bench/guard.ts',
  about: `Detects a clear loss of speed without reacting to noise. Compares the CPU time per change of a fixed replay, relative to
a calibration loop, with the budget in bench/budget.json, and Sluice with kube-controller-manager on a real API server.
Exit status 0 if everything is within its limits, 1 if not, 2 for a usage error.
`,
  options: {
    replay: flag('only the replay; takes some seconds and needs no servers'),
    compare: flag('only the comparison with kube-controller-manager; takes about a minute'),
    update: flag('store the current cost of the replay as its budget'),
  },
  async main({ replay, compare, update }) {
    const verdicts = [...(compare ? [] : await replays(update)), ...(replay ? [] : await comparison())];
    // NaN fails as well.
    const failed = verdicts.filter(({ value, limit }) => !(value <= limit));
    for (const { what, value, limit } of verdicts) {
      console.log(`${value <= limit ? 'ok    ' : 'FAILED'} ${what}: ${value.toFixed(2)}, limit ${limit.toFixed(2)}`);
    }
    console.log(`${verdicts.length - failed.length} passed, ${failed.length} failed, 0 skipped`);
    return failed.length > 0 ? 1 : 0;
  },
});
