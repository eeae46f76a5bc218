/** Upgrades a running fleet from an earlier commit and rolls it back, under load, and checks that nothing was lost. See `--help`. */

import { UsageError } from '@sluice/platform/process';
import { integer, positiveNumber, runCommand, say, text } from '@sluice/program';
import { checkOutEarlier } from './src/upgrade/earlier-checkout.ts';
import { renderUpgrade } from './src/upgrade/report.ts';
import { runUpgrade } from './src/upgrade/upgrade-run.ts';

await runCommand({
  usage: 'npm run upgrade --',
  about: `Starts three workers of an earlier commit with NATS, Redis and clusters, each a real kube-apiserver. While Services, Pods and
Nodes change, each worker in turn stops (SIGTERM) and starts as this version, and then back as the earlier one. At the end every
EndpointSlice and Endpoints must be as a full recomputation writes it, every write must be a planned one, and no worker may have
met a message or a stored field that it cannot read.

Exit status: 0 if nothing was lost, 1 if there are violations, 2 if the run failed to start.
`,
  options: {
    from: text('COMMIT', 'the earlier commit, which this clone must contain; required'),
    seed: integer(1, 'seed of the changes'),
    clusters: integer(2, 'number of clusters'),
    rate: integer(40, 'changes per second in all clusters together'),
    pause: positiveNumber(10, 'seconds that each mix of versions runs'),
    directory: text('DIR', 'keep logs and plans in DIR; default: keep them only after violations'),
  },
  async main({ from, pause, ...options }) {
    if (from === undefined) throw new UsageError('--from is required: the commit to upgrade from, such as HEAD~50');
    const earlier = checkOutEarlier(from);
    say(`upgrade: from ${earlier.commit} and back, seed ${options.seed}`);
    const report = await runUpgrade({ ...options, earlier: earlier.directory, pauseMs: pause * 1_000 }, (line) =>
      say(`upgrade: ${line}`),
    ).finally(earlier.remove);
    process.stdout.write(renderUpgrade(report));
    return report.violations.length > 0 ? 1 : 0;
  },
  failed: 2,
});
