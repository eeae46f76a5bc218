/** Measures the targets for fleets in one run. See `--help`. */

import { ensureBinaries, ensureNatsServer } from '@sluice/local';
import { integer, integers, say, selection } from '@sluice/program';
import { measureClusters } from './src/clusters/clusters-measure.ts';
import { rotate } from './src/conditions.ts';
import { CONTROLLERS } from './src/controllers.ts';
import { measure } from './src/measure.ts';
import { coldAndWarm, secondsAt } from './src/phase.ts';
import type { Run } from './src/results.ts';
import { runBench } from './src/run-bench.ts';
import { number } from './src/table.ts';
import { TakeoverTestbed } from './src/takeover-measure.ts';
import { compareControllers, judgeClusters, judgeTakeovers, judgeThroughput, type Target } from './src/targets.ts';
import { measureThroughput, type Throughput } from './src/throughput-measure.ts';

const parts = ['controllers', 'reconcilers', 'clusters', 'take-overs'] as const;
const shape = { services: 100, pods: 20 };
const compared = ['sluice', 'worker', 'kcm-raised'];
/**
 * More than a reconciler can do, and a rate at which four of them decide for each Change, and two cores suffice for them, their
 * servers and the load: processes that share a core slow each other down.
 */
const [capacityRate, sustainedRate] = [20_000, 500];
const mostReconcilers = 4;
/** Changes per second of each reconciler if all of them share the sustained rate. */
const rateOfEach = sustainedRate / mostReconcilers;

const verdict = (measured: number, target: number): string =>
  Number.isNaN(measured) ? 'not measured' : measured <= target ? 'met' : 'missed';

await runBench({
  name: 'targets',
  about: `Measures what a fleet is to cost, and prints each target as met or missed. A worker is compared with \`sluice run\` and with
kube-controller-manager with raised limits, in turn on a real API server; its NATS and Redis count as parts of it. Exit status 0
also if targets are missed: they depend on the machine.
`,
  options: {
    parts: selection(parts, 'what to measure', [...parts]),
    rounds: integer(5, 'rounds'),
    rates: integers([20, 100], 'flips per second'),
    seconds: integer(20, 'shortest duration at each rate'),
    clusters: integer(100, 'clusters of 100 Services × 10 Pods'),
    repetitions: integer(20, 'take-overs per role and signal'),
    timeout: integer(240, 'maximum wait for convergence, in seconds'),
  },
  async measure({ parts: chosen, rounds, rates, seconds, clusters, repetitions, timeout }, directory) {
    await ensureBinaries(say);
    await ensureNatsServer(say);
    const timeoutSeconds = timeout;
    const targets: Target[] = [];
    if (chosen.includes('controllers')) {
      const controllers = CONTROLLERS.filter(({ name }) => compared.includes(name));
      const runs: Run[] = [];
      for (let round = 1; round <= rounds; round++) {
        for (const controller of rotate(controllers, round)) {
          const phases = coldAndWarm(rates, (rate) => secondsAt(rate, rounds, seconds));
          const options = { directory: `${directory}/control-plane`, shape, phases, timeoutSeconds, fsync: false, say };
          runs.push(await measure(controller, round, options));
        }
      }
      targets.push(...compareControllers(runs));
    }
    if (chosen.includes('reconcilers')) {
      const common = { directory, seconds, timeoutSeconds, warmUpSeconds: 5, writeMs: 5, say };
      const shape = { services: 500, pods: 20 };
      const results: Throughput[] = [];
      for (let round = 1; round <= rounds; round++) {
        for (const workers of [1, 2, mostReconcilers]) {
          const rates = [...new Set([rateOfEach * workers, sustainedRate, capacityRate])];
          results.push(...(await measureThroughput(workers, round, { ...common, shape, rates })));
        }
      }
      targets.push(...judgeThroughput(results, { sustained: sustainedRate, each: rateOfEach, capacity: capacityRate }));
    }
    if (chosen.includes('clusters')) {
      const options = { clusters, shape: { services: 100, pods: 10 }, rate: 200, seconds, seed: 1, timeoutSeconds };
      targets.push(...judgeClusters(await measureClusters('worker', options, directory), clusters));
    }
    if (chosen.includes('take-overs')) {
      const options = { directory: `${directory}/take-overs`, shape, probes: 3, repetitions, timeoutSeconds, seed: 1 };
      const testbed = await TakeoverTestbed.open(options);
      const takeovers = [];
      for (let repetition = 1; repetition <= repetitions; repetition++) {
        for (const role of ['watcher', 'reconciler', 'writer'] as const) {
          for (const signal of ['SIGKILL', 'SIGTERM'] as const) takeovers.push(await testbed.takeOver(role, signal));
        }
      }
      await testbed.close();
      targets.push(...judgeTakeovers(takeovers));
    }
    const rows = targets.map(({ name, target, measured }) => ({
      cells: [name, `≤ ${number(target)}`, number(measured), verdict(measured, target)],
    }));
    const table = { title: 'Targets', head: ['', 'target', 'measured', ''], rows };
    return { tables: [table], conditions: `Medians of ${rounds} rounds. `, json: { rounds, targets } };
  },
});
