import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '@sluice/bus';
import { connectJetStreamBus } from '@sluice/bus/jetstream';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, populate } from '@sluice/fake-apiserver';
import { freePorts } from '@sluice/local';
import { defaultPartitions } from '@sluice/messages';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock as clock, systemRandom as random } from '@sluice/platform/process';
import { observeWrites } from '@sluice/tests';
import { Fleet, type Role } from './fleet.ts';
import { Flips, untilConverged } from './flips.ts';
import { type Histogram, histogramOf } from './histogram.ts';
import { cpuSeconds } from './process-stats.ts';
import { natsTraffic, redisTraffic } from './server-traffic.ts';
import { namespaceNames, type Shape } from './shape.ts';

export interface FlipCostOptions {
  readonly directory: string;
  readonly shape: Shape;
  readonly roles: readonly Role[];
  readonly rates: readonly number[];
  /** Duration at a rate. */
  readonly secondsAt: (rate: number) => number;
  readonly idleSeconds: number;
  readonly timeoutSeconds: number;
  readonly profileDirectory: string | undefined;
}

/** What a phase has cost: counters by name, CPU in milliseconds by process. */
interface Counters {
  readonly counts: Readonly<Record<string, number>>;
  readonly cpuMs: Readonly<Record<string, number>>;
}

export interface Phase extends Counters {
  /** 0: idle. The counters are then per second, otherwise per flip and without what the idle fleet does. */
  readonly rate: number;
  readonly latencies: Histogram;
}

/** The cost of flips in a fleet of these processes, on real NATS and Redis and a fake cluster over HTTP. */
export async function measureFlipCost(options: FlipCostOptions): Promise<readonly Phase[]> {
  const { shape, roles, rates, secondsAt, idleSeconds, timeoutSeconds, profileDirectory } = options;
  const directory = join(options.directory, roles.join('-'));
  mkdirSync(directory, { recursive: true });
  const server = new FakeApiServer({ clock, random: seededRandom(1) });
  const flips = new Flips(shape.services);
  let writes = 0;
  const observed = observeWrites(
    server,
    ({ resource, after }) => {
      writes++;
      if (resource === 'endpointslices') flips.written(after.metadata.labels?.['kubernetes.io/service-name'] ?? '');
    },
    () => {},
  );
  const population = populate(server, {
    ...{ services: shape.services, podsPerService: shape.pods, namespaces: namespaceNames(shape).length },
    now: clock.now(),
  });
  const http = new ApiServerHttp({ server: observed, clock });
  const kubeconfig = join(directory, 'kubeconfig.json');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
  const [monitorPort = 0] = await freePorts(1);
  const fleet = await Fleet.start({
    ...{ directory, kubeconfig, natsConfiguration: `http: "127.0.0.1:${monitorPort}"` },
    ...(profileDirectory !== undefined && { profileDirectory }),
  });
  const ports = { clock, random, logger: silentLogger };
  const bus = await connectJetStreamBus({ servers: [fleet.nats.url], partitions: defaultPartitions }, ports);
  const servers: readonly (readonly [string, number])[] = [
    ['NATS', fleet.nats.process.pid ?? 0],
    ['Redis', fleet.redis.process.pid ?? 0],
  ];
  const pids = new Map<string, number>(roles.includes('run') ? [] : servers);
  try {
    for (const role of roles) pids.set(role, (await fleet.run(role)).pid ?? 0);
    await untilConverged(server, timeoutSeconds);
    const counts = async () => ({
      ...(await records(bus)),
      ...(await natsTraffic(monitorPort)),
      ...(await redisTraffic(fleet.redis)),
      'API writes': writes,
    });
    const cpuMs = () => Object.fromEntries([...pids].map(([name, pid]) => [name, cpuSeconds(pid) * 1_000]));
    const meters = { counts, cpuMs };
    await sleep(warmUpMs);
    const idle = await difference(meters, () => sleep(idleSeconds * 1_000), idleSeconds);
    const phases: Phase[] = [{ rate: 0, latencies: [], ...idle }];
    for (const rate of rates) {
      const seconds = secondsAt(rate);
      await flips.run(server, population, { rate, seconds: 3, pods: shape.pods });
      flips.latencies.length = 0;
      const measured = await difference(
        meters,
        () => flips.run(server, population, { rate, seconds, pods: shape.pods }),
        rate * seconds,
      );
      phases.push({ rate, latencies: histogramOf(flips.latencies), ...without(measured, idle, rate) });
    }
    await untilConverged(server, timeoutSeconds);
    return phases;
  } finally {
    await bus.close();
    await fleet.stop();
    await http.close();
  }
}

/** Longer than a Service must be quiet before its digest is stored: that is still part of the start. */
const warmUpMs = 15_000;
/** Time for what a fleet still does after the last flip: Outcomes, watch echoes, commits. */
const drainMs = 500;

interface Meters {
  readonly counts: () => Promise<Counters['counts']>;
  readonly cpuMs: () => Counters['cpuMs'];
}

/** Counters of a phase, divided by `by`. CPU is read last before it and first after it: reading counters costs the servers CPU. */
async function difference({ counts, cpuMs }: Meters, run: () => Promise<unknown>, by: number): Promise<Counters> {
  const before = { counts: await counts(), cpuMs: cpuMs() };
  await run();
  await sleep(drainMs);
  const after = { cpuMs: cpuMs(), counts: await counts() };
  const each = (of: (counters: Counters) => Readonly<Record<string, number>>) =>
    Object.fromEntries(
      Object.entries(of(after)).map(([name, value]) => [name, (value - (of(before)[name] ?? 0)) / by]),
    );
  return { counts: each(({ counts }) => counts), cpuMs: each(({ cpuMs }) => cpuMs) };
}

/** Counters per flip without what the fleet does when idle; CPU includes it. */
function without({ counts, cpuMs }: Counters, idle: Counters, rate: number): Counters {
  const own = Object.entries(counts).map(([name, value]) => [name, value - (idle.counts[name] ?? 0) / rate]);
  return { counts: Object.fromEntries(own), cpuMs };
}

/** Number of records ever appended, by topic. */
async function records(bus: Bus): Promise<Readonly<Record<string, number>>> {
  const sum = async (topic: 'changes' | 'mutations', partitions: number) => {
    const ends = await Promise.all(Array.from({ length: partitions }, (_, partition) => bus.end(topic, partition)));
    return ends.reduce((total, { offset }) => total + offset, 0);
  };
  return {
    'records of changes': await sum('changes', bus.partitions),
    'records of mutations': await sum('mutations', bus.partitions),
  };
}
