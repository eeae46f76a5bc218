import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RoleProcess } from '@sluice/demo/distributed';
import { loadConfiguration } from '@sluice/fleet/configuration/load';
import { openInfrastructure } from '@sluice/fleet/roles';
import {
  type ControlPlane,
  freePorts,
  kubectl,
  type Nats,
  type RedisServer,
  startControlPlane,
  startNats,
  startRedis,
} from '@sluice/local';
import { partitionOf } from '@sluice/messages';
import { silentLogger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { afterAll, beforeAll, expect, test } from 'vitest';

/**
 * What an on-call engineer sees of a fleet on real NATS, Redis and API servers: a cluster that is down when the fleet
 * starts, processes that stand by, and the loss of Redis and of NATS.
 */
const program = join(import.meta.dirname, '..', 'bin', 'sluice');
const service = 'default/kubernetes';
const roles = ['watcher', 'watcher', 'reconciler', 'writer'] as const;
let root: string;
let west: ControlPlane;
let east: ControlPlane;
let redis: RedisServer;
let nats: Nats;
let kubeconfigs: string;
let backends: readonly string[];
let consoleUrl: string;
/** Address of the metrics of each process of `roles`. */
let metricsUrls: readonly string[];
const processes: RoleProcess[] = [];
const lines: string[] = [];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-trial-fleet-'));
  [west, east] = await Promise.all([
    startControlPlane({ directory: join(root, 'west'), name: 'west', authorization: 'RBAC' }),
    startControlPlane({ directory: join(root, 'east'), name: 'east', authorization: 'RBAC' }),
  ]);
  redis = await startRedis({ directory: join(root, 'redis') });
  nats = await startNats({ directory: join(root, 'nats') });
  kubeconfigs = join(root, 'kubeconfigs');
  mkdirSync(kubeconfigs);
  for (const { name, kubeconfigs: files } of [west, east])
    writeFileSync(join(kubeconfigs, name), readFileSync(files.sluice), { mode: 0o600 });
  await east.processes.kubeApiserver.kill();
  backends = ['--bus', nats.url, '--store', redis.url, '--partitions', '4'];
  const [consolePort, ...ports] = await freePorts(1 + roles.length);
  consoleUrl = `http://127.0.0.1:${consolePort}`;
  metricsUrls = ports.map((port) => `http://127.0.0.1:${port}/metrics`);
  const start = (role: (typeof roles)[number] | 'console', args: readonly string[]) => {
    const onLine = (name: string, line: string) => void lines.push(`${name}: ${line}`);
    const all = [...backends, '--log-format', 'json', ...args];
    processes.push(new RoleProcess(`${role}-${processes.length}`, role, all, onLine));
  };
  for (const [i, role] of roles.entries()) {
    const clusters = role === 'reconciler' ? [] : ['--kubeconfig', kubeconfigs];
    start(role, [...clusters, '--metrics-bind-address', `127.0.0.1:${ports[i]}`]);
  }
  start('console', ['--console-bind-address', `127.0.0.1:${consolePort}`]);
});

afterAll(async () => {
  for (const { child } of processes) child.kill('SIGKILL');
  await nats?.stop();
  await redis?.stop();
  await Promise.all([west?.stop(), east?.stop()]);
  rmSync(root, { recursive: true, force: true });
});

function sluice(...args: string[]): Promise<{ readonly status: number; readonly output: string }> {
  const env = { ...process.env, SLUICE_CONSOLE: consoleUrl };
  return new Promise((resolve) => {
    execFile(program, args, { env }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), output: `${stdout}${stderr}` });
    });
  });
}

const explain = async (...args: string[]) => (await sluice('explain', service, ...args)).output;
const history = async (...args: string[]) => (await sluice('history', service, ...args)).output;
const listClusters = () => sluice('clusters', 'list', '--kubeconfig', kubeconfigs, ...backends);

/** Waits until the output matches. */
const shows = (output: () => Promise<string>, text: RegExp) => expect.poll(output, { interval: 500 }).toMatch(text);

interface Overview {
  readonly outage: { readonly what: string } | null;
  readonly clusters: readonly { readonly name: string; readonly state: string }[];
}

async function overview(): Promise<Overview> {
  return (await fetch(`${consoleUrl}/api/v1/overview`)).json() as Promise<Overview>;
}

/** Samples of a metric, of the process with this index in `roles`. */
async function samples(process: number, metric: string): Promise<string> {
  const text = await (await fetch(metricsUrls[process] ?? '')).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`))
    .join('\n');
}

const phases = (process: number) => samples(process, 'sluice_cluster_phase');

test('a cluster that is down when the fleet starts: named as not answering, since when and why', async () => {
  const outage = /^error: east has not answered since .* \(connection refused\); this console has no history of it$/m;
  await shows(() => explain('--cluster', 'west'), /Service default\/kubernetes in west, now/);
  await shows(() => explain('--cluster', 'east'), outage);
  expect((await overview()).clusters).toContainEqual(
    expect.objectContaining({
      ...{ name: 'east', state: 'not answering' },
      outage: { since: expect.any(Number), reason: 'connection refused', neverAnswered: true },
    }),
  );
  expect(await phases(0)).toContain('sluice_cluster_phase{cluster="east",phase="unavailable"} 1');
  const list = await listClusters();
  expect(list.status).toBe(1);
  expect(list.output).toMatch(/^east +unavailable .*connection refused/m);
  expect(list.output).toMatch(/^west +usable /m);
  await east.processes.kubeApiserver.start();
  await east.ready();
  await shows(() => explain('--cluster', 'east'), /Service default\/kubernetes in east, now/);
  expect(await listClusters()).toMatchObject({ status: 0 });
});

test('of two watchers, one reports that it serves a cluster, the other that it stands by', async () => {
  const states = async () => (await Promise.all([phases(0), phases(1)])).join('\n');
  for (const cluster of ['west', 'east']) {
    const line = (phase: string) => `sluice_cluster_phase{cluster="${cluster}",phase="${phase}"} 1`;
    await expect
      .poll(async () =>
        (await states())
          .split('\n')
          .filter((one) => one.includes(`"${cluster}"`))
          .sort(),
      )
      .toEqual([line('serving'), line('standby')]);
  }
});

test('logs, metrics and dead letters name clusters as the configuration does', async () => {
  await shows(() => explain('--cluster', 'west'), /Service default\/kubernetes in west, now/);
  await kubectl(west.adminKubeconfig, ['create', 'service', 'clusterip', 'lone', '--tcp=80']);
  const plans = () => samples(roles.indexOf('reconciler'), 'sluice_plans_total');
  await shows(plans, /cluster="west".*status="applied"/);
  const configuration = loadConfiguration({
    ...{ file: undefined, environment: {} },
    flags: { '--bus': nats.url, '--store': redis.url, '--partitions': '4' },
  });
  const ports = { clock: systemClock, random: systemRandom, logger: silentLogger };
  const fleet = await openInfrastructure(configuration, ports);
  try {
    const identity = (await fleet.directory.list()).find(({ name }) => name === 'west')?.identity;
    const key = `${identity}/${service}`;
    const record = { key, id: 'garbage', headers: {}, payload: new TextEncoder().encode('{garbage') };
    for (const topic of ['changes', 'mutations'] as const)
      await fleet.bus.append(topic, partitionOf(key, fleet.bus.partitions), [record]);
  } finally {
    await fleet.close();
  }
  const named = `west/${service}`;
  const list = async () => (await sluice('dead-letters', 'list', ...backends)).output;
  for (const topic of ['changes', 'mutations']) await shows(list, new RegExp(`^${topic}/\\d+/\\d+ .* ${named} `, 'm'));
  for (const role of ['reconciler', 'writer'])
    expect(lines).toContainEqual(
      expect.stringMatching(new RegExp(`^${role}-.*"key":"${named}".*"msg":"record dead-lettered"`)),
    );
  expect(await plans()).not.toMatch(/cluster="(?!west|east)/);
});

test.each([
  ['the store', 'store', () => redis.process.kill(), () => redis.restart()],
  ['the bus', 'bus', () => nats.process.kill(), () => nats.process.start().then(() => nats.ready())],
] as const)('loss of %s: since when and why, everywhere', async (what, backend, kill, start) => {
  await kill();
  const since = `${what} has not answered since [-0-9: ]+ \\(connection refused\\)`;
  await shows(() => explain('--cluster', 'west'), new RegExp(`^${since}; the state below is from that time`));
  expect(await explain('--cluster', 'west')).toMatch(/Service default\/kubernetes in west, as of \d/);
  expect(await history('--cluster', 'west')).toMatch(new RegExp(`^${since}; later changes are unknown`));
  const shown = await overview();
  expect(shown.outage).toMatchObject({ what, since: expect.any(Number), reason: 'connection refused' });
  expect(shown.clusters.map(({ state }) => state)).toEqual(['unknown', 'unknown']);
  const parked = new RegExp(`^error: ${since}\n`);
  if (backend === 'store') expect((await sluice('parked', 'list')).output).toMatch(parked);
  const list = await listClusters();
  expect(list).toMatchObject({ status: 1, output: expect.stringMatching(/connection refused|ECONNREFUSED/) });
  for (const process of roles.keys())
    expect(await samples(process, 'sluice_backend_up')).toContain(`sluice_backend_up{backend="${backend}"} 0`);
  // Without the store, leases expire and all work on the clusters stops.
  const withClusters = [...roles.keys()].filter((process) => roles[process] !== 'reconciler');
  const phasesOf = async () => (await Promise.all(withClusters.map(phases))).join('\n');
  if (backend === 'store') await expect.poll(phasesOf).not.toContain('phase="s');
  await start();
  await shows(() => explain('--cluster', 'west'), /^Service default\/kubernetes in west, now/);
  for (const process of roles.keys())
    await shows(() => samples(process, 'sluice_backend_up'), /backend="bus"\} 1\n.*backend="store"\} 1/);
});
