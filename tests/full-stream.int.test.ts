import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RoleProcess } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, kubeconfigOf } from '@sluice/fake-apiserver';
import { type OpenInfrastructure, openInfrastructure } from '@sluice/fleet/roles';
import { type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { until } from '@sluice/platform/testing';
import type { Role } from '@sluice/sluice';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ObservedWrite, observeWrites } from './harness/observe-writes.ts';
import { PodPopulation } from './harness/pod-population.ts';

/**
 * A full stream discards its oldest records unread. The lost Changes, among them deletions of Pods, are recovered by a
 * resync.
 */
const partitions = 2;
const maxBytes = 128 * 1024;
const seed = Number(process.env.SEED ?? 1);

let directory: string;
let redis: RedisServer;
let nats: Nats;
let http: ApiServerHttp;
let population: PodPopulation;
let fleet: OpenInfrastructure;
let writes: ObservedWrite[];
let log: string[];
const processes: RoleProcess[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-full-stream-'));
  [log, writes] = [[], []];
  redis = await startRedis({ directory: join(directory, 'redis') });
  nats = await startNats({ directory: join(directory, 'nats') });
  const server = new FakeApiServer({ clock: systemClock, random: seededRandom(seed) });
  population = new PodPopulation(server, { services: 20, pods: 4 }, seededRandom(seed + 1), systemClock.now());
  const spied = observeWrites(
    server,
    (write) => writes.push(write),
    () => {},
  );
  http = new ApiServerHttp({ server: spied, clock: systemClock });
  writeFileSync(join(directory, 'kubeconfig.json'), JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
  const configuration = {
    partitions,
    bus: { servers: [nats.url], maxBytes: { changes: maxBytes } },
    store: { url: [redis.url] },
    clusters: [{ name: 'c', kubeconfig: 'kubeconfig.json' }],
    metricsBindAddress: '0',
  };
  writeFileSync(join(directory, 'sluice.yaml'), JSON.stringify(configuration));
  fleet = await openInfrastructure(
    {
      ...{ fleet: 'sluice', partitions },
      bus: { kind: 'nats', servers: [nats.url], maxBytes: { changes: maxBytes } },
      store: { kind: 'redis', urls: [redis.url] },
    },
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

const details = () => `seed ${seed}\n${log.slice(-40).join('\n')}`;
const converged = () => until('correct endpoints', () => population.incorrectServices().length === 0, details);

test('recovers unread records of a full stream by a resync, without incorrect writes', async () => {
  start('watcher');
  const reconciler = start('reconciler');
  start('writer');
  await converged();

  await reconciler.stop();
  const all = Array.from({ length: partitions }, (_, partition) => partition);
  const read = await Promise.all(all.map(async (partition) => (await fleet.bus.end('changes', partition)).offset));
  const isFull = async () => {
    for (let i = 0; i < 5; i++) population.change();
    const oldest = await Promise.all(all.map((partition) => fleet.bus.beginning('changes', partition)));
    return oldest.every(({ offset }, partition) => offset > (read[partition] ?? 0));
  };
  await until('full streams', isFull, details);
  expect(population.incorrectServices()).not.toEqual([]);

  writes = [];
  const said = log.length;
  start('reconciler');
  await converged();
  // Nothing changes from here on, so every write must be correct and nothing may be deleted.
  const wrong = writes.filter(({ verb, resource, name, after }) => {
    if (verb === 'delete' || (resource !== 'endpoints' && resource !== 'endpointslices')) return true;
    const service = resource === 'endpoints' ? name : after.metadata.labels?.['kubernetes.io/service-name'];
    return !population.isExpected(service ?? '', resource, after);
  });
  expect(wrong, `seed ${seed}`).toEqual([]);
  // Detected when the reader opens, or at the first record. The reconciler logs the first partition, and lists the others later.
  const lines = log.slice(said);
  expect(lines.join('\n')).toMatch(/log truncated; resyncing partition.*does not continue after offset \d+/);
  const resynced = lines.flatMap(
    (line) => /resyncing partition .*partition=(\d+) reason="log truncated"/.exec(line)?.[1] ?? [],
  );
  expect(new Set(resynced), lines.join('\n')).toEqual(new Set(all.map(String)));
});
