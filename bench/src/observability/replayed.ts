import type { Bus } from '@sluice/bus';
import { tapBus } from '@sluice/console';
import { defaultTraceRatio } from '@sluice/fleet/configuration';
import { silentLogger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { startConsole, startTracing } from '@sluice/sluice';
import { Metrics } from '@sluice/telemetry';
import { Replay } from '../replay-cost.ts';
import { median } from '../statistics.ts';
import type { Table } from '../table.ts';
import { startCollector } from './collector.ts';

interface PipelineOptions {
  readonly name: string;
  readonly metrics?: boolean;
  readonly history?: boolean;
  /** Ratio of traced changes; tracing is off by default. */
  readonly ratio?: number;
}

const shape = { services: 20, pods: 10 };
const warmUpRounds = 2;

class Pipeline {
  readonly name: string;
  /** Per round, in microseconds per change. */
  readonly cpu: number[] = [];
  spansPerChange = 0;
  readonly #replay: Replay;
  readonly #tracing: Awaited<ReturnType<typeof startTracing>>;

  constructor({ name, metrics, history }: PipelineOptions, tracing: Awaited<ReturnType<typeof startTracing>>) {
    this.name = name;
    this.#tracing = tracing;
    this.#replay = new Replay(shape, ({ identity, clock }) => ({
      tracers: tracing?.tracers,
      ...(metrics && {
        metrics: new Metrics({ clusters: new Map([[identity, 'c']]), spans: () => tracing?.exporter.counts }),
      }),
      ...(history && {
        tap: (bus: Bus) => tapBus(bus, startConsole(() => [], {}, { clock, logger: silentLogger }).history),
      }),
    }));
  }

  static async start(levels: PipelineOptions, collector: string): Promise<Pipeline> {
    const { ratio } = levels;
    const tracing = await startTracing(
      { endpoint: ratio === undefined ? undefined : collector, ratio: ratio ?? 0, slowMs: 60_000 },
      {
        systems: { messaging: 'memory', store: 'memory' },
        fleet: 'bench',
        member: 'bench',
        clock: systemClock,
        random: systemRandom,
        logger: silentLogger,
      },
    );
    return new Pipeline(levels, tracing);
  }

  async round(changes: number): Promise<void> {
    const sent = this.#tracing?.exporter.counts.exported ?? 0;
    this.cpu.push(await this.#replay.round(changes, () => Promise.resolve(this.#tracing?.exporter.flush(10_000))));
    this.spansPerChange = ((this.#tracing?.exporter.counts.exported ?? 0) - sent) / changes;
  }

  async stop(): Promise<void> {
    await this.#replay.stop();
    await this.#tracing?.exporter.close(1_000);
  }
}

export interface ReplayedOptions {
  /** Per pipeline. */
  readonly rounds: number;
  /** Per round. */
  readonly changes: number;
  /** Sampling ratios. */
  readonly ratios: readonly number[];
}

/** CPU time of the same changes in one process on the fake API server, at each observability level. */
export async function compareReplayed({ rounds, changes, ratios }: ReplayedOptions): Promise<Table> {
  const collector = await startCollector();
  const pipelines: Pipeline[] = [];
  const levels: readonly PipelineOptions[] = [
    { name: 'nothing' },
    { name: 'metrics', metrics: true },
    { name: 'history', history: true },
    ...ratios.map((ratio) => ({ name: `traces of ${ratio * 100} %`, ratio })),
    { name: 'metrics, history', metrics: true, history: true },
    { name: 'all, as by default', metrics: true, history: true, ratio: defaultTraceRatio },
  ];
  for (const one of levels) pipelines.push(await Pipeline.start(one, collector.endpoint));
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    const first = round % pipelines.length;
    for (const pipeline of [...pipelines.slice(first), ...pipelines.slice(0, first)]) await pipeline.round(changes);
  }
  const cost = ({ cpu }: Pipeline) => median(cpu.slice(warmUpRounds));
  const [first] = pipelines;
  const nothing = first === undefined ? Number.NaN : cost(first);
  const rows = pipelines.map((pipeline) => {
    const more = pipeline === first ? '' : `${((cost(pipeline) / nothing - 1) * 100).toFixed(1)} %`;
    return {
      cells: [pipeline.name, cost(pipeline).toFixed(0), more, pipeline.spansPerChange.toFixed(1)],
    };
  });
  const head = ['level', 'CPU µs/change', 'more', 'spans/change'];
  for (const pipeline of pipelines) await pipeline.stop();
  await collector.stop();
  return { title: `Replayed in one process, medians of ${rounds} rounds`, head, rows };
}
