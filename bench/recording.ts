/** Measures what "sluice observe" costs and how fast its recording answers. See `--help`. */

import { UsageError } from '@sluice/platform/process';
import { integer, say } from '@sluice/program';
import { measureObserver } from './src/recording/observer.ts';
import { measureQuestions } from './src/recording/questions.ts';
import { runBench } from './src/run-bench.ts';
import { number } from './src/table.ts';

await runBench({
  name: 'recording',
  about: `Runs "sluice observe" beside "sluice run" on a fake cluster over HTTP whose Pods flip their readiness, and prints the CPU and
the memory of the observer and the size of its recording. A flip is a change of a Pod, of a slice and of Endpoints. Then it fills a
recording with entries, and asks a console on it every question of the command line, of random Services at random times.
`,
  options: {
    services: integer(1_000, 'Services'),
    pods: integer(10, 'Pods per Service'),
    rate: integer(100, 'flips per second'),
    seconds: integer(60, 'duration'),
    entries: integer(1_000_000, 'entries of the recording that is asked, at least three per Service'),
    questions: integer(200, 'questions'),
  },
  async measure({ services, pods, rate, seconds, entries, questions }, directory) {
    if (entries < 3 * services) throw new UsageError(`--entries must be at least ${3 * services}, three per Service`);
    const observer = await measureObserver({ directory, shape: { services, pods }, rate, seconds });
    // After hours, a failure of the questions must not lose it.
    say(`observer: ${JSON.stringify(observer)}`);
    const answers = await measureQuestions({ directory, shape: { services, pods }, entries, questions });
    const rows = [
      ['CPU of a core, idle', `${number(observer.idleShare * 100)} %`],
      [`CPU of a core at ${rate} flips/s`, `${number(observer.share * 100)} %`],
      ['memory, largest', `${number(observer.peakMb)} MB`],
      [
        'memory in the first and the last quarter',
        observer.quarters.map(({ memoryMb }) => `${number(memoryMb)} MB`).join(', '),
      ],
      ['open files in the first and the last quarter', observer.quarters.map(({ files }) => number(files)).join(', ')],
      ['records per flip', number(observer.recordsPerFlip)],
      ['bytes per record, with indexes', number(observer.bytesPerRecord)],
      ['size per day', `${number(observer.gbPerDay)} GB`],
      [`size of ${entries} entries`, `${number(answers.gigabytes)} GB`],
      ['append, entries per second of CPU', number(answers.appendedPerSecond)],
      ['first answer', `${number(answers.firstMs)} ms`],
      ...answers.latencies.map(([what, p50, p99, max]) => [
        `${what}: p50, p99, largest`,
        `${number(p50)}, ${number(p99)}, ${number(max)} ms`,
      ]),
    ];
    const title = `${services} × ${pods}`;
    return { tables: [{ title, head: ['', ''], rows: rows.map((cells) => ({ cells })) }], json: { observer, answers } };
  },
});
