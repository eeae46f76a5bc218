import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeApiServer, populate } from '@sluice/fake-apiserver';
import { resolve as resolveConfiguration } from '@sluice/fleet/configuration/testing';
import { openInfrastructure } from '@sluice/fleet/roles';
import { kubeconfigText } from '@sluice/fleet/testing';
import { freePorts, type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { until } from '@sluice/platform/testing';
import { aController } from '@sluice/service-state/testing';
import { allCommands } from '@sluice/sluice/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostileServer } from './harness/hostile-server.ts';

/** Every command in every output format, while the API server refuses writes with what a terminal would interpret. */

const hostile = '\u001b]0;owned\u0007\u009b2J\u202e\u007f\u2028';
/** The end may be a line break, which is joined. */
const escaped = '\\u009b2J\\u202e\\u007f';
const interpreted = /[[\p{Cc}\p{Bidi_Control}\u2028\u2029]--[\n\t]]/gv;

const root = join(import.meta.dirname, '..');
const directory = mkdtempSync(join(tmpdir(), 'sluice-hostile-'));
const kubeconfig = join(directory, 'west.yaml');
/** A context whose name is hostile. */
const odd = join(directory, 'odd.yaml');
const started: ChildProcess[] = [];
/** What the processes of `started` log, by name. */
const logs = new Map<string, string>();
let server: HostileServer;
let nats: Nats;
let redis: RedisServer;
let console_: string;

const env = { ...process.env, NO_COLOR: '1' };

function start(name: string, ...args: readonly string[]): void {
  const child = spawn(join(root, 'bin/sluice'), args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const add = (data: Buffer) => logs.set(name, `${logs.get(name) ?? ''}${data}`);
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  started.push(child);
}

const sluice = (...args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const options = { env: { ...env, HOME: directory }, cwd: directory };
    execFile(join(root, 'bin/sluice'), args, options, (_, stdout, stderr) => resolve(`${stdout}${stderr}`));
  });

const logged = () => [...logs.values()].join('\n').slice(-4_000);
const fleet = () => ['--bus', nats.url, '--store', redis.url];

beforeAll(async () => {
  const cluster = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  populate(cluster, { services: 2, podsPerService: 1, nodes: 1 });
  server = new HostileServer(cluster, (request, response) => {
    if (request.method !== 'POST' || !request.url?.includes('endpoint')) return false;
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Invalid', code: 422 };
    response.writeHead(422, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...status, message: `refused ${hostile}` }));
    return true;
  });
  writeFileSync(kubeconfig, kubeconfigText({ server: await server.listen() }));
  writeFileSync(odd, `current-context: ${JSON.stringify(hostile)}\ncontexts: []\nclusters: []\n`);
  nats = await startNats({ directory: mkdtempSync(join(directory, 'nats-')) });
  redis = await startRedis({ directory: mkdtempSync(join(directory, 'redis-')) });
  const [port, other] = await freePorts(2);
  console_ = `http://127.0.0.1:${port}`;
  const common = ['--kubeconfig', kubeconfig, '--take-over', '--metrics-bind-address'];
  start('run', 'run', ...common, `127.0.0.1:${port}`);
  start('worker', 'worker', ...common, `127.0.0.1:${other}`, ...fleet());
  const { configuration } = resolveConfiguration({ flags: { '--bus': nats.url, '--store': redis.url } });
  const infrastructure = await openInfrastructure(configuration, {
    ...{ clock: systemClock, random: systemRandom, logger: silentLogger },
  });
  const record = {
    id: hostile,
    key: `uid/shop/${hostile}`,
    headers: { [hostile]: hostile },
    payload: Buffer.from(hostile),
  };
  await infrastructure.deadLetters.add({
    topic: 'changes',
    partition: 0,
    offset: 1,
    deadLetteredAt: systemClock.now(),
    reason: hostile,
    record,
  });
  await infrastructure.close();
  await storeHostileNames();
  await until(
    'the fleet parks a Service',
    async () => (await sluice('parked', 'list', ...fleet())).includes(escaped),
    logged,
  );
  await until('sluice run parks a Service', async () =>
    (await sluice('parked', 'list', '--console', console_)).includes(escaped),
  );
});

/** Another fleet, whose store holds names that no watcher accepts: somebody else has written them there. */
async function storeHostileNames(): Promise<void> {
  const { configuration } = resolveConfiguration({ flags: { '--bus': nats.url, '--store': redis.url } });
  const ports = { clock: systemClock, random: systemRandom, logger: silentLogger };
  const { store, directory, close } = await openInfrastructure({ ...configuration, fleet: 'odd' }, ports);
  const causes = { first: [{ description: hostile, observedAt: 0 }], more: 0 };
  const parked = { ...aController({ retries: { parked: hostile, parkedSince: 0 } }), causes };
  const [scope, fencingToken] = ['reconciler/0', 1];
  await store.claim(scope, fencingToken);
  await store.commit({
    ...{ scope, fencingToken, expectedOffset: 0, checkpoint: { offset: 0, id: '', streamId: '' } },
    entries: [{ key: `uid/${hostile}/${hostile}`, field: 'controller/endpointslice', value: parked }],
  });
  await directory.put({ identity: 'uid', name: hostile, version: hostile, server: hostile });
  await close();
}

afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await server.close();
  await nats.stop();
  await redis.stop();
  rmSync(directory, { recursive: true, force: true });
});

const service = 'bench-0/svc-00000';
const read = () => ['--console', console_];
const cluster = () => ['--kubeconfig', kubeconfig];
const broken = () => ['--kubeconfig', odd];

/** How each command is called. */
const calls: Readonly<Record<string, () => readonly string[]>> = {
  run: broken,
  observe: broken,
  open: () => [hostile],
  watcher: () => [...broken(), ...fleet()],
  reconciler: () => ['--bus', `nats://${hostile}`],
  writer: () => [...broken(), ...fleet()],
  worker: () => ['--fleet', hostile],
  console: () => ['--fleet', hostile],
  'clusters list': broken,
  'clusters show': () => [hostile, ...cluster()],
  'clusters accept': () => [hostile, ...cluster(), ...fleet()],
  'clusters forget': () => [hostile, ...fleet()],
  top: () => [hostile, ...read()],
  services: () => [...read(), '--all-clusters', '--without', hostile],
  history: () => [service, ...read()],
  'history export': () => [service, ...read()],
  explain: () => [service, ...read(), '--pod', hostile],
  trace: () => [service, ...read(), '--cluster', hostile],
  problems: () => [...read(), '--since', hostile],
  outages: () => [...read(), '--since', hostile],
  slow: () => [...read(), '--until', hostile],
  stuck: () => [...read(), '--for', hostile],
  flapping: () => [...read(), '--limit', hostile],
  'record export': () => [hostile, hostile],
  rollout: () => [service, ...read(), '--since', hostile],
  diff: () => [service, ...read(), '--at', hostile],
  verify: () => [service, ...read(), '--cluster', hostile],
  drain: () => [...read(), '--proxy-delay', hostile],
  node: () => [hostile, ...read(), '--since', hostile],
  'dead-letters list': fleet,
  'dead-letters show': () => ['changes/0/1', ...fleet()],
  'dead-letters replay': () => [hostile, ...fleet()],
  'dead-letters drop': () => [hostile, ...fleet()],
  'parked list': fleet,
  'parked show': () => [service, ...fleet()],
  'parked retry': () => [hostile, ...fleet()],
  'parked release': () => [hostile, ...fleet()],
  'partitions list': () => ['--bus', `nats://${hostile}`],
  'partitions set': () => [hostile, ...fleet()],
  capacity: () => ['--pods', hostile],
  compact: () => [...fleet(), '--fleet', hostile],
  doctor: broken,
  'support-bundle': () => ['--log', hostile],
  'migrate check': broken,
  completion: () => [hostile],
  config: () => ['--cluster-secrets', hostile],
};

const all = await allCommands();

test('every command is called', () => {
  expect(Object.keys(calls).sort()).toEqual(all.map(({ name }) => name).sort());
});

/** Each with and without a format. */
const forms = all.flatMap(({ name, formats }) =>
  formats.length === 0 ? [[name, ''] as const] : formats.map((format) => [name, format] as const),
);

describe.each(forms)('%s %s', (name, format) => {
  test('prints what is hostile, escaped', async () => {
    const text = await sluice(...name.split(' '), ...(calls[name]?.() ?? []), ...(format === '' ? [] : ['-o', format]));
    expect(text).toContain('\\u009b2J');
    expect(text.match(interpreted)).toBeNull();
  });
});

const stored = () => [...fleet(), '--fleet', 'odd'];

/** Commands that find what they are called for, where hostile names are stored. */
const successes: Readonly<Record<string, () => readonly string[]>> = {
  'parked list': stored,
  'parked show': () => [`uid/${hostile}/${hostile}`, ...stored()],
  'parked retry': () => ['--all', '--dry-run', ...stored()],
  'parked release': () => ['--all', '--dry-run', ...stored()],
  'clusters forget': () => [hostile, '--dry-run', '--kubeconfig', kubeconfig, ...stored()],
  doctor: () => ['--kubeconfig', kubeconfig, ...stored()],
};

describe.each(forms.filter(([name]) => name in successes))('%s %s, of hostile names in the store,', (name, format) => {
  test('prints them, escaped', async () => {
    const output = format === '' ? [] : ['-o', format];
    const text = await sluice(...name.split(' '), ...(successes[name]?.() ?? []), ...output);
    expect(text).toContain('\\u009b2J');
    expect(text).not.toMatch(/is not (parked|stored)|No parked/);
    expect(text.match(interpreted)).toBeNull();
  });
});

test.each(['run', 'worker'])('%s prints refusals and logs escaped', (name) => {
  expect(logs.get(name)).toContain(escaped);
  expect(logs.get(name)?.match(interpreted)).toBeNull();
});

test('answers of the console are escaped', async () => {
  const answer = await (await fetch(`${console_}/api/v1/parked`)).text();
  expect(answer).toContain(escaped);
  expect(answer.match(interpreted)).toBeNull();
});
