import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, type RedisServer } from '@sluice/local';
import { say } from '@sluice/program';
import { FakeClustersProcess } from '../clusters/fake-clusters-process.ts';
import { completed } from '../clusters/run.ts';
import { Fleet } from '../fleet.ts';
import { cpuSeconds, peakMemoryMb } from '../process-stats.ts';
import { natsTraffic } from '../server-traffic.ts';

/** A fleet of one worker, and the clusters that it serves. */
export interface Size {
  readonly clusters: number;
  /** Services per cluster. */
  readonly services: number;
  /** Pods per Service. */
  readonly pods: number;
  /** Changes per second over all clusters. */
  readonly rate: number;
}

/** CPU in ms, memory in MB, traffic in kB. `idle`: per second. `change`: per change, without what the idle fleet does. */
export interface MeasuredSize {
  readonly completeSeconds: number;
  readonly missing: number;
  readonly p99Ms: number;
  readonly start: Readonly<Record<Part, number>>;
  readonly idle: Readonly<Record<Part, number>>;
  readonly change: Readonly<Record<Part, number>> & {
    readonly natsIn: number;
    readonly natsOut: number;
    readonly writes: number;
  };
  /** Peak until the end of the load; of Redis, what it uses for data at the end. */
  readonly memory: Readonly<Record<Part, number>>;
}

export const parts = ['worker', 'nats', 'redis'] as const;
export type Part = (typeof parts)[number];

export interface MeasureOptions {
  readonly directory: string;
  readonly idleSeconds: number;
  readonly loadSeconds: number;
  readonly timeoutSeconds: number;
}

/** After the start and after a phase: what the fleet still does, in milliseconds. */
const drainMs = 3_000;

/** Measures one worker with its NATS and Redis on fake clusters over HTTP. */
export async function measureSize(size: Size, options: MeasureOptions): Promise<MeasuredSize> {
  const { clusters, services, pods, rate } = size;
  const { idleSeconds, loadSeconds, timeoutSeconds } = options;
  const directory = join(options.directory, `${clusters}x${services}x${pods}`);
  const kubeconfigs = join(directory, 'kubeconfigs');
  mkdirSync(kubeconfigs, { recursive: true });
  const fakes = await FakeClustersProcess.start({
    ...{ clusters, shape: { services, pods }, seed: 1, directory: kubeconfigs },
  });
  const [port = 0] = await freePorts(1);
  const natsConfiguration = `http: "127.0.0.1:${port}"`;
  const fleet = await Fleet.start({ directory, kubeconfig: kubeconfigs, natsConfiguration });
  try {
    const startedAt = performance.now();
    const pids: Readonly<Record<Part, number>> = {
      worker: (await fleet.run('worker')).pid ?? 0,
      nats: fleet.nats.process.pid ?? 0,
      redis: fleet.redis.process.pid ?? 0,
    };
    await completed(() => fakes.request('incomplete', clusters), timeoutSeconds);
    const completeSeconds = (performance.now() - startedAt) / 1_000;
    say(`${clusters} × ${services} × ${pods}: complete after ${completeSeconds.toFixed(1)} s`);
    await sleep(drainMs);
    const all = { among: clusters, measured: clusters };
    const read = async () => {
      const traffic = await natsTraffic(port);
      const [natsIn, natsOut] = [traffic['NATS kB in'] ?? 0, traffic['NATS kB out'] ?? 0];
      return {
        ...each((part) => cpuSeconds(pids[part]) * 1_000),
        natsIn,
        natsOut,
        writes: await fakes.request('writes'),
      };
    };
    const start = await read();
    await sleep(idleSeconds * 1_000);
    const idled = await read();
    // Warms up the code that a start does not use.
    await fakes.request('flip', { rate, seconds: 5, ...all });
    await sleep(drainMs);
    const before = await read();
    const loadedAt = performance.now();
    const { flips, latencies, missing } = await fakes.request('flip', { rate, seconds: loadSeconds, ...all });
    await sleep(drainMs);
    const seconds = (performance.now() - loadedAt) / 1_000;
    const after = await read();
    const idle = (of: keyof typeof start) => (idled[of] - start[of]) / idleSeconds;
    const change = (of: keyof typeof start) => (after[of] - before[of] - idle(of) * seconds) / flips;
    return {
      ...{
        completeSeconds,
        missing,
        p99Ms: latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? 0,
      },
      start: each((part) => start[part]),
      idle: each(idle),
      change: { ...each(change), natsIn: change('natsIn'), natsOut: change('natsOut'), writes: change('writes') },
      memory: {
        ...each((part) => peakMemoryMb(pids[part])),
        redis: await dataMb(fleet.redis),
      },
    };
  } finally {
    await fleet.stop();
    fakes.stop();
  }
}

function each(of: (part: Part) => number): Record<Part, number> {
  return { worker: of('worker'), nats: of('nats'), redis: of('redis') };
}

/** What Redis uses for data, in MB: without that, `maxmemory` says nothing. */
async function dataMb(server: RedisServer): Promise<number> {
  const client = server.connect();
  const text = await client.info('memory').finally(() => client.disconnect());
  return Number(/^used_memory:(\d+)/m.exec(text)?.[1] ?? 0) / 1e6;
}
