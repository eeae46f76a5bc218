import { expect, test } from 'vitest';
import { ownCheckout } from './src/fleet/role-process.ts';
import { renderUpgrade } from './src/upgrade/report.ts';
import { runUpgrade } from './src/upgrade/upgrade-run.ts';

test('replacing each worker of a fleet twice under load loses nothing', async () => {
  const load = { seed: 1, clusters: 1, rate: 20, pauseMs: 500 };
  const report = await runUpgrade({ ...load, earlier: ownCheckout, directory: undefined }, (line) =>
    console.log(`upgrade: ${line}`),
  );
  console.log(renderUpgrade(report));
  expect(report.violations).toEqual([]);
  expect(report.steps.map(({ fleet }) => fleet)).toEqual([
    'old old old',
    'new old old',
    'new new old',
    'new new new',
    'old new new',
    'old old new',
    'old old old',
  ]);
  // Before the first replacement, there may be time for none.
  for (const { changes } of report.steps.slice(1)) expect(changes).toBeGreaterThan(0);
  expect(report.writes).toBeGreaterThan(50);
});
