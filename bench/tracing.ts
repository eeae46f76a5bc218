import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { defaultSettings } from '@sluice/reconciler';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { populate, SimulatedApiServer, SimulatedCluster } from '@sluice/simulation';
import { startAllInOne } from '../services/sluice/src/all-in-one.ts';
import { systemClock } from '../services/sluice/src/system/clock.ts';
import { systemRandom } from '../services/sluice/src/system/random.ts';
import { startTracing } from '../services/sluice/src/telemetry/traces/start-tracing.ts';

/**
 * What tracing costs: the CPU time of the same changes, one after the other through the whole pipeline, with tracing off and
 * at several ratios. The pipelines take turns in one process, another one first each time, so that whatever else the
 * machine does hits them alike; told is the median of the turns. A turn is about a second of work, and delivering its
 * spans is part of it, as a process delivers them once a second. The collector is another process, which takes everything
 * and keeps nothing.
 *
 *     npm run bench:tracing -- [--turns 10] [--changes 1000] [--ratios 0,0.05,1]
 */
const [services, podsPerService, warmUpTurns] = [20, 10, 2];

class Pipeline {
  readonly name: string;
  /** Of each turn, in microseconds per change. */
  readonly cpu: number[] = [];
  spansPerChange = 0;
  readonly #clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  readonly #server = new SimulatedApiServer({ clock: this.#clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  readonly #population = populate(this.#server, { services, podsPerService });
  readonly #fleet: ReturnType<typeof startAllInOne>;
  readonly #tracing: Awaited<ReturnType<typeof startTracing>>;
  #changes = 0;

  constructor(name: string, tracing: Awaited<ReturnType<typeof startTracing>>) {
    this.name = name;
    this.#tracing = tracing;
    const cluster = new SimulatedCluster(this.#server, { clock: this.#clock });
    this.#fleet = startAllInOne({
      clusters: [{ name: 'c', identity: this.#server.identity, reader: cluster, writer: cluster, record: () => {} }],
      settings: defaultSettings,
      clock: this.#clock,
      random: seededRandom(2),
      logger: silentLogger,
      partitions: 4,
      tracers: tracing?.tracers,
    });
  }

  static async start(ratio: number | undefined, collector: string): Promise<Pipeline> {
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
    const pipeline = new Pipeline(ratio === undefined ? 'off' : `ratio ${ratio}`, tracing);
    await pipeline.#settle();
    return pipeline;
  }

  async turn(changes: number): Promise<void> {
    const [before, sent] = [process.cpuUsage(), this.#tracing?.counts.sent ?? 0];
    for (let i = 0; i < changes; i++) await this.#change();
    await this.#tracing?.flush(10_000);
    const { user, system } = process.cpuUsage(before);
    this.cpu.push((user + system) / changes);
    this.spansPerChange = ((this.#tracing?.counts.sent ?? 0) - sent) / changes;
  }

  async stop(): Promise<void> {
    await this.#fleet.stop(0);
    await this.#tracing?.close(1_000);
  }

  /** A Pod becomes not ready or ready: one write of Endpoints, one of a slice, and both come back over the watch. */
  async #change(): Promise<void> {
    const i = this.#changes++;
    const [service, pod] = [i % services, Math.floor(i / services) % podsPerService];
    const round = Math.floor(i / (services * podsPerService));
    this.#server.put('pods', this.#population.podObject(service, pod, round % 2 === 1));
    await this.#settle();
  }

  async #settle(): Promise<void> {
    const until = this.#clock.now() + 20;
    do await new Promise((resolve) => setImmediate(resolve));
    while (this.#clock.step(until));
  }
}

async function compare(turns: number, changes: number, ratios: readonly number[]): Promise<void> {
  const collector = fork(fileURLToPath(import.meta.url), ['--collect']);
  const address = await new Promise<string>((resolve) => collector.once('message', (url) => resolve(String(url))));
  const pipelines: Pipeline[] = [];
  for (const ratio of [undefined, ...ratios]) pipelines.push(await Pipeline.start(ratio, address));
  for (let turn = 0; turn < warmUpTurns + turns; turn++) {
    const first = turn % pipelines.length;
    for (const pipeline of [...pipelines.slice(first), ...pipelines.slice(0, first)]) await pipeline.turn(changes);
  }
  const median = ({ cpu }: Pipeline) => cpu.slice(warmUpTurns).sort((a, b) => a - b)[Math.floor(turns / 2)] ?? 0;
  const [off = 0] = pipelines.map(median);
  console.log('| traces | CPU per change | more | spans per change |\n| --- | --- | --- | --- |');
  for (const pipeline of pipelines) {
    const more = pipeline.name === 'off' ? '' : `${(((median(pipeline) - off) / off) * 100).toFixed(1)} %`;
    const row = [pipeline.name, `${median(pipeline).toFixed(0)} µs`, more, pipeline.spansPerChange.toFixed(1)];
    console.log(`| ${row.join(' | ')} |`);
  }
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

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '10' },
    changes: { type: 'string', default: '1000' },
    ratios: { type: 'string', default: '0,0.05,1' },
    collect: { type: 'boolean' },
  },
});
if (values.collect) collect();
else await compare(Number(values.turns), Number(values.changes), values.ratios.split(',').map(Number));
