/** Measures how long the Services of a stopped process wait for its successor. See `--help`. */

import { ensureBinaries, ensureNatsServer, KUBERNETES_VERSION } from '@sluice/local';
import { integer, say, selection } from '@sluice/program';
import type { Role } from './src/fleet.ts';
import { runBench } from './src/run-bench.ts';
import { percentile, reliablePercentile } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';
import { type Signal, type Takeover, TakeoverTestbed } from './src/takeover-measure.ts';

const PROCESSES = ['watcher', 'reconciler', 'writer'] as const satisfies readonly Role[];
const SIGNALS = ['SIGKILL', 'SIGTERM'] as const satisfies readonly Signal[];

/** Milliseconds over all Services that were changed, and over the last one of each take-over. */
function table(title: string, takeovers: readonly Takeover[]): Table {
  const kinds = [...Map.groupBy(takeovers, ({ role, signal }) => `${role} ${signal}`)];
  return {
    title,
    head: ['', 'take-overs', 'Services', 'p50 ms', 'p90 ms', 'p99 ms', 'most ms', 'last p50'],
    rows: kinds.map(([kind, these]) => {
      const all = these.flatMap(({ milliseconds }) => milliseconds);
      const last = these.map(({ milliseconds }) => Math.max(...milliseconds));
      const figures = [percentile(all, 0.5), reliablePercentile(all, 0.9), reliablePercentile(all, 0.99)];
      const cells = [these.length, all.length, ...figures, percentile(all, 1), percentile(last, 0.5)];
      return { cells: [kind, ...cells.map(number)] };
    }),
  };
}

await runBench({
  name: 'takeover',
  about: `Starts a real API server and a fleet with two processes per role and default settings. Stops one of them, changes a
Pod of some of its Services, and measures the time from the signal to the watch event of the EndpointSlice that
shows the change. Then starts a new process and repeats.
`,
  options: {
    services: integer(100, 'Services'),
    pods: integer(20, 'Pods per Service'),
    roles: selection(PROCESSES, 'roles'),
    signals: selection(SIGNALS, 'signals'),
    repetitions: integer(50, 'take-overs per role and signal'),
    probes: integer(3, 'maximum number of Services changed each time'),
    seed: integer(1, 'seed of the random choices'),
    timeout: integer(60, 'maximum wait for any step, in seconds'),
  },
  async measure({ services, pods, roles, signals, repetitions, probes, seed, timeout }, directory) {
    const options = { shape: { services, pods }, probes, repetitions, timeoutSeconds: timeout, seed };
    await ensureBinaries(say);
    await ensureNatsServer(say);
    const testbed = await TakeoverTestbed.open({ ...options, directory });
    const takeovers: Takeover[] = [];
    for (let repetition = 1; repetition <= repetitions; repetition += 1) {
      for (const [role, signal] of roles.flatMap((role) => signals.map((signal) => [role, signal] as const))) {
        const takeover = await testbed.takeOver(role, signal);
        takeovers.push(takeover);
        const last = number(Math.max(...takeover.milliseconds));
        say(`${repetition} of ${repetitions}: ${role} ${signal}, last after ${last} ms`);
      }
    }
    await testbed.close();
    return {
      tables: [table(`${services} Services × ${pods} Pods, two processes of each role`, takeovers)],
      conditions: `Kubernetes ${KUBERNETES_VERSION}. `,
      json: { kubernetes: KUBERNETES_VERSION, ...options, takeovers },
    };
  },
});
