/** Compares the capacity model with measurements. See `--help`. */

import { unitCosts } from '@sluice/capacity';
import { ensureNatsServer } from '@sluice/local';
import { choice, integer, say } from '@sluice/program';
import { compare, compared, comparisonTable, deviation, tolerance } from './src/capacity/comparison.ts';
import { type Fitted, fit, fitted } from './src/capacity/fit.ts';
import { type MeasuredSize, measureSize, type Size } from './src/capacity/measure-size.ts';
import { runBench } from './src/run-bench.ts';

await runBench({
  name: 'capacity',
  about: `Runs a fleet of one worker with NATS and Redis on fake clusters over HTTP, of 1, 20 and 100 clusters, and prints what it used
beside what "sluice capacity" predicts. Exit status 1 if they differ by more than ${tolerance * 100} %. With --costs measured, first
measures the unit costs at other sizes, predicts from those, and prints them as JSON for services/capacity/src/unit-costs.ts.
`,
  options: {
    costs: choice(['stored', 'measured'], 'stored', 'unit costs to predict from'),
    idle: integer(8, 'time without changes, in seconds'),
    seconds: integer(15, 'time with changes, in seconds'),
    timeout: integer(120, 'maximum wait for a start, in seconds'),
  },
  async measure({ costs: from, idle, seconds, timeout }, directory) {
    await ensureNatsServer(say);
    const options = { directory, idleSeconds: idle, loadSeconds: seconds, timeoutSeconds: timeout };
    const measure = async (size: Size) => ({ size, measured: await measureSize(size, options) });
    let costs = unitCosts;
    if (from === 'measured') {
      const measured: Partial<Record<keyof Fitted, MeasuredSize>> = {};
      for (const name of Object.keys(fitted) as (keyof Fitted)[])
        measured[name] = (await measure(fitted[name])).measured;
      costs = fit(measured as Fitted);
      process.stderr.write(`${JSON.stringify({ measured, costs })}\n`);
    }
    const sizes = [];
    for (const size of compared) {
      const measurement = await measure(size);
      const rows = compare(measurement, costs);
      process.stderr.write(`${JSON.stringify({ measurement })}\n`);
      sizes.push({ measurement, rows });
    }
    const off = sizes.flatMap(({ rows }) => rows.filter((row) => Math.abs(deviation(row)) > tolerance));
    return {
      tables: sizes.map(({ measurement, rows }) => comparisonTable(measurement, rows)),
      json: { costs, sizes },
      failed: off.length > 0 || sizes.some(({ measurement }) => measurement.measured.missing > 0),
    };
  },
});
