/** Measures what a change costs in a fleet. See `--help`. */

import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { ensureNatsServer } from '@sluice/local';
import { integer, integers, say, selection, text } from '@sluice/program';
import type { Role } from './src/fleet.ts';
import { measureFlipCost, type Phase } from './src/flip-cost-measure.ts';
import { merged, percentileIn, sizeOf } from './src/histogram.ts';
import { secondsAt } from './src/phase.ts';
import { runBench } from './src/run-bench.ts';
import { isReliable, median } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';

const FLEETS: Readonly<Record<string, readonly Role[]>> = {
  run: ['run'],
  worker: ['worker'],
  roles: ['watcher', 'reconciler', 'writer'],
};

/** One column per rate: medians over the rounds, and percentiles over the samples of all rounds. */
function table(title: string, rounds: readonly (readonly Phase[])[], of: 'counts' | 'cpuMs'): Table {
  const [first = []] = rounds;
  const name = (rate: number) => (rate === 0 ? 'idle, per s' : `${rate} flips/s, per flip`);
  const rows = (label: string, value: (phase: Phase | undefined) => number | undefined) => ({
    cells: [label, ...first.map((_, i) => number(median(rounds.map((phases) => value(phases[i]) ?? Number.NaN))))],
  });
  const latency = (label: string, share: number) => ({
    cells: [
      label,
      ...first.map((_, i) => {
        const all = merged(rounds.map((phases) => phases[i]?.latencies ?? []));
        return number(isReliable(sizeOf(all), share) ? percentileIn(all, share) : Number.NaN);
      }),
    ],
  });
  const labels = Object.keys(first[0]?.[of] ?? {});
  const sum = (phase: Phase | undefined) => Object.values(phase?.[of] ?? {}).reduce((total, value) => total + value, 0);
  return {
    title,
    head: ['', ...first.map(({ rate }) => name(rate))],
    rows: [
      ...labels.map((label) => rows(label, (phase) => phase?.[of][label])),
      ...(of === 'cpuMs' ? [rows('total', sum), latency('latency p50 ms', 0.5), latency('latency p99 ms', 0.99)] : []),
    ],
  };
}

await runBench({
  name: 'flip-cost',
  about: `Runs fleets with NATS and Redis, and "sluice run" without them, on this machine and a fake cluster over HTTP whose Pods flip their readiness at a fixed rate.
Prints what a flip costs: records, messages, bytes and scripts of the store, without what the idle fleet does, and the CPU of each
process with it. Latency is from the change of the Pod to the write of its slice. Rounds alternate between the fleets.
`,
  options: {
    fleets: selection(Object.keys(FLEETS), 'what to run: all in one process, one worker, or one process of each role'),
    services: integer(100, 'Services'),
    pods: integer(20, 'Pods per Service'),
    rates: integers([20, 100], 'flips per second, one rate after the other'),
    seconds: integer(10, 'shortest duration at each rate, and without flips'),
    rounds: integer(3, 'rounds'),
    timeout: integer(60, 'maximum wait for convergence, in seconds'),
    profile: text('DIR', 'folder for CPU profiles; see bench/profile-summary.ts'),
  },
  async measure({ fleets, services, pods, rates, seconds, rounds, timeout, profile }, directory) {
    await ensureNatsServer(say);
    if (profile !== undefined) mkdirSync(profile, { recursive: true });
    const measured = new Map<string, (readonly Phase[])[]>(fleets.map((fleet) => [fleet, []]));
    for (let round = 1; round <= rounds; round++) {
      for (const fleet of fleets) {
        say(`round ${round} of ${rounds}: ${fleet}`);
        const phases = await measureFlipCost({
          ...{
            directory: `${directory}/${round}`,
            shape: { services, pods },
            rates,
            idleSeconds: seconds,
            timeoutSeconds: timeout,
          },
          secondsAt: (rate) => secondsAt(rate, rounds, seconds),
          roles: FLEETS[fleet] ?? [],
          profileDirectory: profile && resolve(profile),
        });
        measured.get(fleet)?.push(phases);
      }
    }
    const tables = [...measured].flatMap(([fleet, all]) => [
      table(`${fleet}: messages`, all, 'counts'),
      table(`${fleet}: CPU ms`, all, 'cpuMs'),
    ]);
    return { tables, json: { services, pods, rates, seconds, fleets: Object.fromEntries(measured) } };
  },
});
