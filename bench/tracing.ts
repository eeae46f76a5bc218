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
 * What tracing costs: the CPU time of the same changes, one after the other through the whole pipeline in one process, with
 * tracing off and at several ratios. Each measurement is a process of its own; the collector is another one, which takes
 * everything and keeps nothing.
 *
 *     node bench/tracing.ts [--changes 5000] [--rounds 3]
 */
const ratios = [undefined, 0, 0.05, 1] as const;
const [services, podsPerService, warmUp] = [100, 10, 1_000];

interface Measured {
  /** Of this process, in microseconds. */
  readonly cpuPerChange: number;
  readonly spans: number;
  readonly dropped: number;
}

async function measure(changes: number, ratio: number | undefined, endpoint: string): Promise<Measured> {
  const tracing = await startTracing(
    { endpoint: ratio === undefined ? undefined : endpoint, ratio: ratio ?? 0, slowMs: 60_000 },
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
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const server = new SimulatedApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  const population = populate(server, { services, podsPerService, now: clock.now() });
  const cluster = new SimulatedCluster(server, { clock });
  const fleet = startAllInOne({
    clusters: [{ name: 'c', identity: server.identity, reader: cluster, writer: cluster, record: () => {} }],
    settings: defaultSettings,
    clock,
    random: seededRandom(2),
    logger: silentLogger,
    tracers: tracing?.tracers,
  });
  const settle = async () => {
    const until = clock.now() + 20;
    do await new Promise((resolve) => setImmediate(resolve));
    while (clock.step(until));
  };
  await settle();
  const flip = async (i: number) => {
    const [service, pod] = [i % services, Math.floor(i / services) % podsPerService];
    const round = Math.floor(i / (services * podsPerService));
    server.put('pods', population.podObject(service, pod, round % 2 === 1));
    await settle();
  };
  for (let i = 0; i < warmUp; i++) await flip(i);
  const [before, spansBefore] = [process.cpuUsage(), tracing?.counts.sent ?? 0];
  for (let i = warmUp; i < warmUp + changes; i++) await flip(i);
  const { user, system } = process.cpuUsage(before);
  const counts = tracing?.counts;
  await fleet.stop(0);
  await tracing?.close(2_000);
  return {
    cpuPerChange: (user + system) / changes,
    spans: ((counts?.sent ?? 0) - spansBefore) / changes,
    dropped: counts?.overflown ?? 0,
  };
}

const self = fileURLToPath(import.meta.url);

function inProcess<T>(args: readonly string[]): Promise<{ readonly message: T; readonly stop: () => void }> {
  return new Promise((resolve, reject) => {
    const child = fork(self, args);
    child.once('message', (message) => resolve({ message: message as T, stop: () => void child.kill() }));
    child.once('exit', (code) => reject(new Error(`it ended with status ${code}`)));
  });
}

async function compare(changes: number, rounds: number): Promise<void> {
  const collector = await inProcess<string>(['--collect']);
  const measured = new Map<number | undefined, Measured[]>(ratios.map((ratio) => [ratio, []]));
  for (let round = 0; round < rounds; round++) {
    for (const ratio of ratios) {
      const given = ratio === undefined ? [] : ['--ratio', String(ratio)];
      const args = ['--measure', '--endpoint', collector.message, '--changes', String(changes), ...given];
      const { message } = await inProcess<Measured>(args);
      measured.get(ratio)?.push(message);
    }
  }
  collector.stop();
  const least = (of: readonly Measured[]) => Math.min(...of.map(({ cpuPerChange }) => cpuPerChange));
  const off = least(measured.get(undefined) ?? []);
  console.log('| traces | CPU per change | more | spans per change | dropped |\n| --- | --- | --- | --- | --- |');
  for (const [ratio, of] of measured) {
    const cpu = least(of);
    const more = ratio === undefined ? '' : `${(((cpu - off) / off) * 100).toFixed(1)} %`;
    const [{ spans, dropped } = { spans: 0, dropped: 0 }] = of;
    const name = ratio === undefined ? 'off' : `ratio ${ratio}`;
    console.log(`| ${name} | ${cpu.toFixed(0)} µs | ${more} | ${spans.toFixed(2)} | ${dropped} |`);
  }
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
    changes: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '3' },
    collect: { type: 'boolean' },
    measure: { type: 'boolean' },
    endpoint: { type: 'string', default: '' },
    ratio: { type: 'string' },
  },
});
if (values.collect) collect();
else if (values.measure) {
  const ratio = values.ratio === undefined ? undefined : Number(values.ratio);
  process.send?.(await measure(Number(values.changes), ratio, values.endpoint), () => process.exit());
} else await compare(Number(values.changes), Number(values.rounds));
