import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RoleProcess } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, type Population, populate } from '@sluice/fake-apiserver';
import { loadConfiguration } from '@sluice/fleet/configuration/load';
import { openInfrastructure } from '@sluice/fleet/roles';
import { freePorts, type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import { randomInteger, seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endpointDifferences } from './harness/expected-endpoints.ts';

/** The number of partitions of a running fleet on real NATS and Redis is changed and changed back while Pods change. */
const [services, podsPerService] = [20, 3];
const main = fileURLToPath(new URL('../services/sluice/src/main.ts', import.meta.url));

const root = mkdtempSync(join(tmpdir(), 'sluice-repartition-'));
let redis: RedisServer;
let nats: Nats;
let server: FakeApiServer;
let http: ApiServerHttp;
let population: Population;
const processes: RoleProcess[] = [];
const log: string[] = [];

beforeAll(async () => {
  [redis, nats] = await Promise.all([
    startRedis({ directory: join(root, 'redis') }),
    startNats({ directory: join(root, 'nats') }),
  ]);
  server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  population = populate(server, { services, podsPerService, now: systemClock.now() });
  http = new ApiServerHttp({ server, clock: systemClock });
  writeFileSync(join(root, 'kubeconfig'), JSON.stringify(kubeconfigOf(await http.listen(), 'west')), { mode: 0o600 });
});

afterAll(async () => {
  for (const { child } of processes) child.kill('SIGKILL');
  await http?.close();
  await nats?.stop();
  await redis?.stop();
  rmSync(root, { recursive: true, force: true });
});

const fleet = () => ['--bus', nats.url, '--store', redis.url];

function start(name: string, role: 'worker' | 'console', ...flags: string[]): RoleProcess {
  const started = new RoleProcess(name, role, [...fleet(), ...flags], (from, line) => log.push(`${from}: ${line}`));
  processes.push(started);
  return started;
}

const startWorker = (name: string, partitions: number) =>
  start(
    ...([name, 'worker', '--kubeconfig', join(root, 'kubeconfig'), '--cluster-name', 'west'] as const),
    ...['--metrics-bind-address', '0', '--partitions', String(partitions)],
  );

async function sluice(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args]);
  return stdout;
}

const differences = () => endpointDifferences(server);

const withLog = (error: unknown): never => {
  throw new Error(`${error}\n${log.slice(-30).join('\n')}`, { cause: error });
};

test('a fleet changes its number of partitions and changes it back, and loses neither changes nor history', async () => {
  const random = seededRandom(3);
  const workers = [startWorker('first', 4), startWorker('second', 4)];
  await expect.poll(differences).toEqual([]).catch(withLog);
  // It stays as it is from here on, so that its history is in the logs of the first generation only.
  const { namespace } = population.pod(0, 0);
  const steady = `${namespace}/${population.services[0]?.name}`;
  const started = (count: number) => () => log.filter((line) => / started /.test(line)).length >= count;
  // One of them alone can converge before the other has started.
  await expect.poll(started(2)).toBe(true).catch(withLog);
  for (const [round, partitions] of [16, 4].entries()) {
    const printed = await sluice('partitions', 'set', String(partitions), ...fleet(), '--partitions', '4');
    expect(printed).toContain(`The fleet changes to ${partitions} partitions`);
    // Both processes start again, in the new generation; Pods change before, meanwhile and after.
    await expect
      .poll(() => {
        const service = randomInteger(random, 1, services - 1);
        server.put('pods', population.podObject(service, randomInteger(random, 0, 2), random.next() < 0.5));
        return started(2 * (round + 2))();
      })
      .toBe(true)
      .catch(withLog);
    for (let service = 1; service < services; service++) {
      server.put('pods', population.podObject(service, 0, service % 2 === round));
    }
    await expect.poll(differences).toEqual([]).catch(withLog);
  }
  const listed = (await sluice('partitions', 'list', '-o', 'json', ...fleet(), '--partitions', '4')).trim().split('\n');
  expect(listed.map((line) => JSON.parse(line))).toMatchObject([
    { generation: 0, partitions: 4, logs: 'sluice', current: false },
    { generation: 1, partitions: 16, logs: 'sluice-g1', current: false },
    { generation: 2, partitions: 4, logs: 'sluice-g2', current: true },
  ]);

  const [port = 0] = await freePorts(1);
  start('console', 'console', '--console-bind-address', `127.0.0.1:${port}`, '--partitions', '4');
  const history = () =>
    sluice('history', steady, '--console', `http://127.0.0.1:${port}`, '-o', 'json').catch(() => '');
  // The Service was created in the first generation, and each one read it again.
  await expect
    .poll(async () => (await history()).split('\n').filter((line) => line.includes('"applied"')).length)
    .toBeGreaterThan(0)
    .catch(withLog);
  for (const worker of workers) await worker.stop();
});

test('logs that a command left behind, and a command at the same time, block no other number of partitions', async () => {
  const flags = [...fleet(), '--fleet', 'other', '--partitions', '2'];
  const current = async () => {
    const lines = (await sluice('partitions', 'list', '-o', 'json', ...flags)).trim().split('\n');
    return lines.map((line) => JSON.parse(line)).find((generation) => generation.current);
  };
  const file = join(root, 'other.json');
  writeFileSync(file, JSON.stringify({ bus: { servers: [nats.url] }, store: { url: [redis.url] } }));
  const { bus, store } = loadConfiguration({ file, flags: {}, environment: {} });
  const ports = { clock: systemClock, random: seededRandom(1), logger: silentLogger };
  const { openLogs, close } = await openInfrastructure({ fleet: 'other', partitions: 2, bus, store }, ports);
  // As a command of a former version leaves them that dies before it changes the list.
  await (await openLogs(1, 3)).close();
  await close();
  expect(await sluice('partitions', 'set', '5', '--dry-run', ...flags)).toContain('would change to 5 partitions');
  expect(await sluice('partitions', 'set', '5', ...flags)).toContain('The logs of other keep the history');
  expect(await current()).toMatchObject({ generation: 2, partitions: 5, logs: 'other-g2' });

  const atOnce = await Promise.allSettled(['6', '7'].map((count) => sluice('partitions', 'set', count, ...flags)));
  expect(atOnce.map(({ status }) => status)).toContain('fulfilled');
  const { generation, partitions } = await current();
  expect([6, 7]).toContain(partitions);
  expect(await sluice('partitions', 'set', '4', ...flags)).toContain('The fleet changes to 4 partitions');
  expect((await current()).generation).toBeGreaterThan(generation);
});
