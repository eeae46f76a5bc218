/** Measures the start of one process. See `--help`. */

import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { ensureNatsServer } from '@sluice/local';
import { integer, say, selection, text } from '@sluice/program';
import { subjects as all, measureStarts, type Start, type Subject } from './src/cold-start-measure.ts';
import { runBench } from './src/run-bench.ts';
import { median } from './src/statistics.ts';
import { number } from './src/table.ts';

const columns: readonly (readonly [string, (start: Start) => number])[] = [
  ['first write ms', ({ firstWriteMs }) => firstWriteMs],
  ['complete ms', ({ completeMs }) => completeMs],
  ['CPU ms', ({ cpuMs }) => cpuMs],
  ['CPU ms of NATS and Redis', ({ serversCpuMs }) => serversCpuMs],
];

await runBench({
  name: 'cold-start',
  about: `Starts processes on a fake cluster over HTTP: "sluice run", the first worker of a fleet, whose NATS and Redis are empty, and a
worker of a fleet that was stopped while Pods changed. Prints the time from the start of the process to its first write, and until
all slices are correct. Medians over the rounds.
`,
  options: {
    subjects: selection(all, 'what to start', [...all]),
    services: integer(100, 'Services'),
    pods: integer(20, 'Pods per Service'),
    rounds: integer(5, 'rounds'),
    profile: text('DIR', 'folder for CPU profiles; see bench/profile-summary.ts'),
  },
  async measure({ subjects, services, pods, rounds, profile }, directory) {
    await ensureNatsServer(say);
    if (profile !== undefined) mkdirSync(profile, { recursive: true });
    const shape = { services, pods };
    const measured: ReadonlyMap<Subject, Start>[] = [];
    for (let round = 1; round <= rounds; round++) {
      say(`round ${round} of ${rounds}`);
      const options = { directory: `${directory}/${round}`, shape, profileDirectory: profile && resolve(profile) };
      measured.push(await measureStarts(subjects, options));
    }
    const medianOf = (subject: Subject, value: (start: Start) => number) =>
      median(measured.flatMap((starts) => starts.get(subject) ?? []).map(value));
    const rows = subjects.map((subject) => ({
      cells: [subject, ...columns.map(([, value]) => number(medianOf(subject, value)))],
    }));
    const head = ['', ...columns.map(([name]) => name)];
    return {
      tables: [{ title: `${services} Services × ${pods} Pods`, head, rows }],
      json: { services, pods, rounds: measured.map((starts) => Object.fromEntries(starts)) },
    };
  },
});
