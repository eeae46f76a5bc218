import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBinaries, freePorts, type ServerProcess } from '@sluice/local';
import { seededRandom } from '@sluice/platform';
import { say } from '@sluice/program';
import { rotate } from '../conditions.ts';
import { startSluice } from '../controllers.ts';
import { measureColdStart, measurePhase, measureRestart } from '../measure.ts';
import { flips } from '../phase.ts';
import { PodPool } from '../pod-pool.ts';
import type { RateResult } from '../results.ts';
import { benchPods, type Shape } from '../shape.ts';
import { median } from '../statistics.ts';
import { number, type Table } from '../table.ts';
import { type Testbed, withTestbed } from '../testbed.ts';
import { type Collector, startCollector } from './collector.ts';

export interface RealOptions {
  readonly shape: Shape;
  /** Flips per second. */
  readonly rates: readonly number[];
  /** Duration at each rate. */
  readonly seconds: number;
  readonly rounds: number;
  /** Names of `observabilityLevels`. */
  readonly levels: readonly ObservabilityLevel[];
  /** Interval between scrapes of `/metrics`. */
  readonly scrapeSeconds: number;
}

/** Addresses of the metrics, the console and the span collector. */
interface Addresses {
  readonly port: number;
  readonly collector: string;
}

const served = ({ port }: Addresses) => ['--metrics-bind-address', `127.0.0.1:${port}`];

/** Flags of `sluice run` per level. Each level includes the one before. */
const flagsOf = {
  off: () => ['--metrics-bind-address', '0'],
  metrics: (addresses: Addresses) => [...served(addresses), '--no-console'],
  history: served,
  all: (addresses: Addresses) => [...served(addresses), '--otlp-endpoint', addresses.collector],
};

export type ObservabilityLevel = keyof typeof flagsOf;
export const observabilityLevels = Object.keys(flagsOf) as readonly ObservabilityLevel[];

const labels: Readonly<Record<ObservabilityLevel, string>> = {
  off: 'off',
  metrics: 'metrics, scraped',
  history: 'metrics, history',
  all: 'all (default)',
};

/** Warms up until hot code is compiled and lazily loaded code is loaded. */
const warmUp = flips(100, 15);

/** CPU time of `sluice run` on a real control plane for the same flips at each observability level. */
export async function compareReal(options: RealOptions): Promise<Table> {
  const { shape, rounds, levels } = options;
  await ensureBinaries(say);
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const collector = await startCollector();
  const results = new Map(levels.map((one) => [one, [] as (readonly RateResult[])[]]));
  const testbedOptions = { directory: join(directory, 'cluster'), shape, timeoutSeconds: 120, fsync: false, say };
  await withTestbed(testbedOptions, async (testbed) => {
    const first = await measureColdStart(testbed, 'sluice', { start: () => startSluice(testbed.controlPlane, {}) });
    await first.peer.stop();
    let pool = new PodPool(benchPods(shape), seededRandom(0));
    for (let round = 1; round <= rounds; round++) {
      for (const one of rotate(levels, round)) {
        say(`round ${round}, observability: ${labels[one]}`);
        pool = new PodPool(benchPods(shape), seededRandom(round), pool.notReady);
        const result = await runRound(testbed, one, collector, pool, options);
        pool = result.pool;
        results.get(one)?.push(result.results);
      }
    }
  });
  await collector.stop();
  rmSync(directory, { recursive: true, force: true });
  return tableOf(options, results);
}

/** One process, from start to exit, at each rate. */
async function runRound(
  testbed: Testbed,
  one: ObservabilityLevel,
  collector: Collector,
  ready: PodPool,
  { shape, rates, seconds, scrapeSeconds }: RealOptions,
): Promise<{ readonly results: readonly RateResult[]; readonly pool: PodPool }> {
  const [port = 0] = await freePorts(1);
  const flags = flagsOf[one]({ port, collector: collector.endpoint });
  const start = () => startSluice(testbed.controlPlane, { flags });
  let pool = ready;
  let peer: ServerProcess | undefined;
  let scraping: Scraping | undefined;
  try {
    peer = (await measureRestart(testbed, { start }, pool)).peer;
    scraping = one === 'off' ? undefined : scrape(`http://127.0.0.1:${port}/metrics`, scrapeSeconds);
    const results: RateResult[] = [];
    for (const phase of [warmUp, ...rates.map((rate) => flips(rate, seconds))]) {
      pool = new PodPool(benchPods(shape), seededRandom(phase.rate), pool.notReady);
      const result = await measurePhase(testbed, peer, phase, pool);
      say(`  ${number(cpuOf(result))} ms of CPU for each`);
      results.push(result);
    }
    return { results: results.slice(1), pool };
  } finally {
    scraping?.stop();
    await peer?.stop(15_000);
  }
}

interface Scraping {
  /** @throws Error if a scrape failed, since the measurement is then invalid */
  stop(): void;
}

/** Scrapes the metrics as Prometheus does. */
function scrape(url: string, seconds: number): Scraping {
  let failure: unknown;
  const timer = setInterval(async () => {
    try {
      const answer = await fetch(url);
      if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
      await answer.text();
    } catch (error) {
      failure ??= error;
    }
  }, seconds * 1_000);
  return {
    stop() {
      clearInterval(timer);
      if (failure !== undefined) throw failure;
    },
  };
}

/** `more`: the extra cost over the first level, per round, as median, minimum and maximum. */
function tableOf(
  { rates, rounds, levels }: RealOptions,
  results: ReadonlyMap<ObservabilityLevel, readonly (readonly RateResult[])[]>,
): Table {
  const turnsOf = (one: ObservabilityLevel | undefined, phase: number): readonly number[] =>
    (one === undefined ? [] : (results.get(one) ?? [])).flatMap((result) => result[phase] ?? []).map(cpuOf);
  const rows = rates.flatMap((rate, phase) => {
    const base = turnsOf(levels[0], phase);
    return levels.map((one, index) => {
      const cpu = turnsOf(one, phase);
      const more = cpu.map((value, round) => value / (base[round] ?? Number.NaN) - 1);
      const ends = (values: readonly number[], text: (value: number) => string) =>
        `${text(Math.min(...values))} – ${text(Math.max(...values))}`;
      const cells = [`${rate}`, labels[one], number(median(cpu)), ends(cpu, number)];
      return {
        cells: [...cells, ...(index === 0 ? ['', ''] : [percent(median(more)), ends(more, percent)])],
      };
    });
  });
  const head = ['flips/s', 'observability', 'CPU ms/flip', 'min – max', 'more', 'min – max'];
  return { title: `sluice run on a real API server, medians of ${rounds} rounds`, head, rows };
}

/** Milliseconds per flip. */
const cpuOf = ({ cost, flips }: RateResult): number => (cost.cpuSeconds.controller * 1_000) / flips;

const percent = (value: number): string => `${(value * 100).toFixed(1)} %`;
