import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BusRecord, streamStart } from '@sluice/bus';
import { RoleProcess } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, kubeconfigOf } from '@sluice/fake-apiserver';
import { type OpenInfrastructure, openInfrastructure } from '@sluice/fleet/roles';
import { type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import type { Role } from '@sluice/sluice';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PodPopulation } from './harness/pod-population.ts';

/**
 * A user of the bus publishes records of a Service with 10,000 nested arrays, which pass the schemas, to a fleet of real
 * processes with one partition.
 */
const seed = Number(process.env.SEED ?? 1);
const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;

let directory: string;
let redis: RedisServer;
let nats: Nats;
let http: ApiServerHttp;
let population: PodPopulation;
let fleet: OpenInfrastructure;
const log: string[] = [];
const processes: RoleProcess[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-nested-records-'));
  redis = await startRedis({ directory: join(directory, 'redis') });
  nats = await startNats({ directory: join(directory, 'nats') });
  const server = new FakeApiServer({ clock: systemClock, random: seededRandom(seed) });
  population = new PodPopulation(server, { services: 5, pods: 3 }, seededRandom(seed + 1), systemClock.now());
  http = new ApiServerHttp({ server, clock: systemClock });
  writeFileSync(join(directory, 'kubeconfig.json'), JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
  const configuration = {
    partitions: 1,
    bus: { servers: [nats.url] },
    store: { url: [redis.url] },
    clusters: [{ name: 'c', kubeconfig: 'kubeconfig.json' }],
    metricsBindAddress: '0',
  };
  writeFileSync(join(directory, 'sluice.yaml'), JSON.stringify(configuration));
  const bus = { kind: 'nats', servers: [nats.url] } as const;
  const store = { kind: 'redis', urls: [redis.url] } as const;
  fleet = await openInfrastructure(
    { fleet: 'sluice', partitions: 1, bus, store },
    { clock: systemClock, random: seededRandom(seed + 2), logger: silentLogger },
  );
});

afterAll(async () => {
  for (const { child } of processes) child.kill('SIGKILL');
  await fleet?.close();
  await http?.close();
  await nats?.stop();
  await redis?.stop();
  rmSync(directory, { recursive: true, force: true });
});

function start(role: Role): RoleProcess {
  const onLine = (from: string, line: string) => log.push(`${from}: ${line}`);
  const process = new RoleProcess(role, role, ['--config', join(directory, 'sluice.yaml')], onLine);
  processes.push(process);
  return process;
}

/** Adds the logs of the roles to a failed expectation. */
function withLog(error: unknown): never {
  throw new Error(`seed ${seed}: ${error}\n${log.slice(-30).join('\n')}`, { cause: error });
}

const converges = () =>
  expect
    .poll(() => population.incorrectServices())
    .toEqual([])
    .catch(withLog);

/** The first record of the topic that contains `part`. */
async function recordWith(topic: 'changes' | 'mutations', part: string): Promise<BusRecord> {
  const reader = fleet.bus.read(topic, 0, streamStart);
  try {
    for (;;) {
      for (const record of await reader.next(100)) {
        if (new TextDecoder().decode(record.payload).includes(part)) return record;
      }
    }
  } finally {
    reader.close();
  }
}

test('nested records are dead-lettered, and the partition continues, also with the next owner', async () => {
  start('watcher');
  const reconciler = start('reconciler');
  start('writer');
  await converges();
  for (const topic of ['changes', 'mutations'] as const) {
    const part = '"endpoints":[{';
    const { key, headers, payload } = await recordWith(topic, part);
    const nested = new TextDecoder().decode(payload).replace(part, `${part}"nested":${deep},`);
    const hostile = { key, headers, id: `nested-${topic}`, payload: new TextEncoder().encode(nested) };
    await fleet.bus.append(topic, 0, [hostile]);
  }
  await expect
    .poll(async () => (await fleet.deadLetters.list()).map(({ topic }) => topic).sort())
    .toEqual(['changes', 'mutations'])
    .catch(withLog);
  // Each of the Services changes.
  for (let n = 0; n < 50; n++) population.change();
  await converges();
  expect(processes.map(({ child }) => child.exitCode)).toEqual([null, null, null]);

  await reconciler.stop();
  start('reconciler');
  for (let n = 0; n < 50; n++) population.change();
  await converges();
  expect(await fleet.deadLetters.list()).toHaveLength(2);
  expect(log.filter((line) => line.includes('Maximum call stack'))).toEqual([]);
});
