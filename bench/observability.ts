import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { count, list, optionsGiven, runProgram, share, systemClock, systemRandom } from '@sluice/program';
import { silentLogger } from '@sluice/runtime';
import { Metrics } from '@sluice/telemetry';
import { defaultTraces } from '../services/sluice/src/options/traces-options.ts';
import { startConsole } from '../services/sluice/src/telemetry/start-console.ts';
import { startTracing } from '../services/sluice/src/telemetry/traces/start-tracing.ts';
import { Replay } from './src/replay-cost.ts';
import { median } from './src/statistics.ts';
import { markdownTable } from './src/table.ts';

const HELP = `usage: node bench/observability.ts [options]      (or: npm run bench:observability -- [options])

What it costs to be seen: the CPU time of the same changes, one after the other through the whole pipeline, with nothing that
looks on, with metrics, with history, with traces, and with all of it as a run has it. The pipelines take turns in one
process, another one first each time, so that whatever else the machine does hits them alike; told is the median of the
turns. Delivering spans is part of a turn. The collector is another process, which takes everything and keeps nothing.

  --turns N        turns of each pipeline (10)
  --changes N      changes in a turn, about a second of work (1000)
  --ratios LIST    shares of the changes that are traced (0,0.05,1)
`;

interface Watched {
  readonly name: string;
  readonly metrics?: boolean;
  readonly history?: boolean;
  /** Share of the changes that are traced. Default: tracing is off. */
  readonly ratio?: number;
}

const shape = { services: 20, pods: 10 };
const warmUpTurns = 2;

class Pipeline {
  readonly name: string;
  /** Of each turn, in microseconds per change. */
  readonly cpu: number[] = [];
  spansPerChange = 0;
  readonly #replay: Replay;
  readonly #tracing: Awaited<ReturnType<typeof startTracing>>;

  constructor({ name, metrics, history }: Watched, tracing: Awaited<ReturnType<typeof startTracing>>) {
    this.name = name;
    this.#tracing = tracing;
    this.#replay = new Replay(shape, ({ identity, clock }) => ({
      tracers: tracing?.tracers,
      ...(metrics && { metrics: new Metrics({ clusters: new Map([[identity, 'c']]), spans: () => tracing?.counts }) }),
      ...(history && { tap: startConsole(() => [], {}, { clock, logger: silentLogger }).tap }),
    }));
  }

  static async start(watched: Watched, collector: string): Promise<Pipeline> {
    const { ratio } = watched;
    const tracing = await startTracing(
      { endpoint: ratio === undefined ? undefined : collector, ratio: ratio ?? 0, slowMs: 60_000 },
      {
        systems: { messaging: 'memory', store: 'memory' },
        fleet: 'bench',
        member: 'bench',
        environment: {},
        clock: systemClock,
        random: systemRandom,
        logger: silentLogger,
      },
    );
    return new Pipeline(watched, tracing);
  }

  async turn(changes: number): Promise<void> {
    const sent = this.#tracing?.counts.sent ?? 0;
    this.cpu.push(await this.#replay.turn(changes, () => Promise.resolve(this.#tracing?.flush(10_000))));
    this.spansPerChange = ((this.#tracing?.counts.sent ?? 0) - sent) / changes;
  }

  async stop(): Promise<void> {
    await this.#replay.stop();
    await this.#tracing?.close(1_000);
  }
}

async function compare(turns: number, changes: number, ratios: readonly number[]): Promise<void> {
  const collector = fork(fileURLToPath(import.meta.url), ['--collect']);
  const address = await new Promise<string>((resolve) => collector.once('message', (url) => resolve(String(url))));
  const pipelines: Pipeline[] = [];
  const watched: readonly Watched[] = [
    { name: 'nothing' },
    { name: 'metrics', metrics: true },
    { name: 'history', history: true },
    ...ratios.map((ratio) => ({ name: `traces of ${ratio * 100} %`, ratio })),
    { name: 'metrics, history', metrics: true, history: true },
    { name: 'all, as by default', metrics: true, history: true, ratio: defaultTraces.traceRatio },
  ];
  for (const one of watched) pipelines.push(await Pipeline.start(one, address));
  for (let turn = 0; turn < warmUpTurns + turns; turn++) {
    const first = turn % pipelines.length;
    for (const pipeline of [...pipelines.slice(first), ...pipelines.slice(0, first)]) await pipeline.turn(changes);
  }
  const cost = ({ cpu }: Pipeline) => median(cpu.slice(warmUpTurns));
  const [first] = pipelines;
  const nothing = first === undefined ? Number.NaN : cost(first);
  const rows = pipelines.map((pipeline) => {
    const more = pipeline === first ? '' : `${((cost(pipeline) / nothing - 1) * 100).toFixed(1)} %`;
    return {
      ratio: false,
      cells: [pipeline.name, cost(pipeline).toFixed(0), more, pipeline.spansPerChange.toFixed(1)],
    };
  });
  const head = ['who looks on', 'CPU µs/change', 'more', 'spans/change'];
  process.stdout.write(markdownTable({ title: `What it costs to be seen, medians of ${turns} turns`, head, rows }));
  for (const pipeline of pipelines) await pipeline.stop();
  collector.kill();
}

/** Takes whatever is posted. */
function collect(): void {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end());
  });
  server.listen(0, '127.0.0.1', () => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`);
  });
}

async function main(): Promise<void> {
  if (process.argv[2] === '--collect') return collect();
  const given = optionsGiven({ turns: '10', changes: '1000', ratios: '0,0.05,1' }, HELP);
  if (given === undefined) return;
  const ratios = list(given.ratios).map((text) => share('ratios', text));
  await compare(count('turns', given.turns), count('changes', given.changes), ratios);
}

await runProgram(main);
