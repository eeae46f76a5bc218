import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, populate } from '@sluice/fake-apiserver';
import { ServerProcess } from '@sluice/local';
import { seededRandom } from '@sluice/platform';
import { systemClock as clock } from '@sluice/platform/process';
import { say } from '@sluice/program';
import { Flips, untilConverged } from '../flips.ts';
import { cpuSeconds, memoryMb, openFiles, peakMemoryMb } from '../process-stats.ts';
import { namespaceNames, type Shape } from '../shape.ts';
import { median } from '../statistics.ts';

interface ObserverOptions {
  readonly directory: string;
  readonly shape: Shape;
  readonly rate: number;
  readonly seconds: number;
}

export interface ObserverCost {
  /** CPU, as a share of a core. */
  readonly share: number;
  readonly idleShare: number;
  readonly peakMb: number;
  /** While Pods flip, the first and the last quarter of the time. */
  readonly quarters: readonly [Held, Held];
  readonly recordsPerFlip: number;
  readonly bytesPerRecord: number;
  /** At the rate, for a day. */
  readonly gbPerDay: number;
}

/** What a process holds; medians. */
interface Held {
  readonly memoryMb: number;
  readonly files: number;
}

const program = join(import.meta.dirname, '../../../bin/sluice');
const converges = 120;

/** What "sluice observe" costs, with a recording, beside a controller that writes. */
export async function measureObserver({ directory, shape, rate, seconds }: ObserverOptions): Promise<ObserverCost> {
  const server = new FakeApiServer({ clock, random: seededRandom(1) });
  const population = populate(server, {
    ...{ services: shape.services, podsPerService: shape.pods, namespaces: namespaceNames(shape).length },
    now: clock.now(),
  });
  const http = new ApiServerHttp({ server, clock });
  const kubeconfig = join(directory, 'kubeconfig.json');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
  const recording = join(directory, 'observed');
  mkdirSync(recording);
  const flags = ['--kubeconfig', kubeconfig, '--metrics-bind-address'];
  const start = async (name: string, ...args: readonly string[]) => {
    const child = new ServerProcess({ name, program, args: [name, ...args], log: join(directory, `${name}.log`) });
    await child.start();
    return child;
  };
  const run = await start('run', '--output', 'none', ...flags, '0');
  const observer = await start('observe', '--recording-dir', recording, ...flags, '127.0.0.1:0');
  try {
    await untilConverged(server, converges);
    await sleep(settlesMs);
    const pid = observer.pid ?? 0;
    say('idle');
    const idle = await cpuOf(pid, () => sleep(10_000));
    const flips = new Flips(shape.services);
    const options = { rate, pods: shape.pods };
    say(`${rate} flips/s`);
    await flips.run(server, population, { ...options, seconds: 10 });
    await sleep(settlesMs);
    const before = stored(recording);
    const samples: Held[] = [];
    const sampling = setInterval(
      () => samples.push({ memoryMb: memoryMb(pid), files: openFiles(pid) }),
      (seconds * 1_000) / 200,
    );
    const busy = await cpuOf(pid, () => flips.run(server, population, { ...options, seconds }));
    clearInterval(sampling);
    await sleep(settlesMs);
    const after = stored(recording);
    const records = after.records - before.records;
    const bytes = after.bytes - before.bytes;
    return {
      share: busy,
      idleShare: idle,
      peakMb: peakMemoryMb(pid),
      quarters: [held(samples.slice(0, samples.length / 4)), held(samples.slice(-samples.length / 4))],
      recordsPerFlip: records / (rate * seconds),
      bytesPerRecord: bytes / records,
      gbPerDay: ((bytes / seconds) * 86_400) / 1e9,
    };
  } finally {
    await observer.stop();
    await run.stop();
    await http.close();
  }
}

function held(samples: readonly Held[]): Held {
  return {
    memoryMb: median(samples.map((sample) => sample.memoryMb)),
    files: median(samples.map(({ files }) => files)),
  };
}

/** Longer than records wait for others. */
const settlesMs = 3_000;

/** The share of a core that the process uses meanwhile. */
async function cpuOf(pid: number, run: () => Promise<unknown>): Promise<number> {
  const before = { cpu: cpuSeconds(pid), at: performance.now() };
  await run();
  return (cpuSeconds(pid) - before.cpu) / ((performance.now() - before.at) / 1_000);
}

/** Records, and the size of the databases with what is in their write-ahead logs. */
function stored(directory: string) {
  let [records, bytes] = [0, 0];
  for (const name of readdirSync(directory).filter((one) => one.startsWith('sluice-') && one.endsWith('.sqlite'))) {
    const path = join(directory, name);
    const database = new DatabaseSync(path, { readOnly: true });
    const get = (sql: string) => Number(Object.values(database.prepare(sql).get() ?? {})[0]);
    records += get('SELECT count(*) FROM records');
    bytes += Math.max(get('PRAGMA page_count') * get('PRAGMA page_size'), statSync(path).size);
    database.close();
  }
  return { records, bytes };
}
