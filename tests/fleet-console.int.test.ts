import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Distributed, startDistributed } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, type Population, populate } from '@sluice/fake-apiserver';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { until } from '@sluice/platform/testing';
import { RecordingReader } from '@sluice/recording';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

/** The CLI explains a deleted Pod in a fleet of processes with real NATS and Redis. */
const main = fileURLToPath(new URL('../services/sluice/src/main.ts', import.meta.url));
let http: ApiServerHttp;
let server: FakeApiServer;
let population: Population;
let fleet: Distributed;
let url: string;
const directory = mkdtempSync(join(tmpdir(), 'sluice-fleet-recording-'));
const log: string[] = [];

beforeAll(async () => {
  server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  population = populate(server, { services: 3, podsPerService: 3, now: systemClock.now() });
  http = new ApiServerHttp({ server, clock: systemClock });
  fleet = await startDistributed({
    bus: 'nats',
    ...{ clock: systemClock, random: seededRandom(2), logger: silentLogger },
    ...{
      server: await http.listen(),
      clusterName: 'production',
      flags: ['--log-level', 'warn'],
      consoleFlags: ['--recording-dir', directory],
      onOutcome: () => {},
    },
    onLine: (process, line) => void log.push(`${process}: ${line}`),
  });
  url = /http:\S+/.exec(fleet.about[0] ?? '')?.[0] ?? '';
});

afterAll(async () => {
  await fleet?.stop();
  await http?.close();
  rmSync(directory, { recursive: true });
});

interface Result {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

async function sluice(...args: string[]): Promise<Result> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [main, ...args, '--console', url]);
    return { stdout, stderr, code: 0 };
  } catch (error) {
    const { stdout, stderr, code } = error as Result;
    return { stdout, stderr, code };
  }
}

/** Explains until the output contains the text, for example while processes start. */
async function explained(text: string, ...args: readonly string[]): Promise<string> {
  let result: Result | undefined;
  const details = () => `${result?.stdout}${result?.stderr}\n${log.slice(-20).join('\n')}`;
  const read = async () => {
    result = await sluice('explain', ...args);
    return result.stdout.includes(text) && result.stdout;
  };
  return until(text, read, details);
}

test('explains when and why the endpoint of a deleted Pod was removed', async () => {
  const { namespace, name: pod } = population.pod(0, 0);
  const service = `${namespace}/${population.services[0]?.name}`;
  const before = await explained(`Service ${service} in production, now: ok, 3 of 3 endpoints ready`, service);
  expect(before).toContain(`${pod}: ready`);

  server.delete('pods', namespace, pod);
  expect(await explained('terminating', service, '--pod', pod)).toContain('the Pod is being deleted');
  // The kubelet does this when the containers have stopped.
  server.delete('pods', namespace, pod, { gracePeriodSeconds: 0 });
  expect(await explained('endpoint was removed', service, '--pod', pod)).toMatch(
    new RegExp(
      `endpoint was removed at [0-9:.]+ \\(.* ago\\), [0-9.]+ m?s after the first cause: Pod ${namespace}/${pod} `,
    ),
  );

  const { stdout } = await sluice('history', service, '--since', '10m', '--pod', pod, '--output', 'json');
  const entries = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(entries.at(-1)).toMatchObject({
    ...{ kind: 'completed', status: 'applied', latencyMs: expect.any(Number) },
    endpoints: [{ type: 'removed', pod }],
  });
  expect((await sluice('history', service, '--pod', pod)).stdout).toContain(`− ${pod} `);
});

test('records what it reads, and answers from the recording', async () => {
  const reader = new RecordingReader(directory);
  onTestFinished(() => reader.close());
  // A Service is recorded once no plan of it is in flight.
  await expect.poll(() => reader.servicesAt(systemClock.now())).toHaveLength(3);
  const { namespace, name } = population.services[1] ?? {};
  for (let i = 0; i < 3; i++) {
    const pod = population.pod(1, i);
    server.delete('pods', pod.namespace, pod.name, { gracePeriodSeconds: 0 });
  }
  const outages = async () => (await sluice('outages', '--since', '10m')).stdout;
  await expect.poll(outages).toMatch(new RegExp(`production +${namespace} +${name} `));
  const key = reader.servicesAt(systemClock.now()).find((one) => one.endsWith(`/${name}`)) ?? '';
  const topics = () => {
    const { records } = reader.records(key, { since: 0, until: systemClock.now(), records: 1_000 });
    return new Set(records.map(({ topic }) => topic));
  };
  await expect.poll(topics).toEqual(new Set(['changes', 'mutations']));
  expect([...reader.clusterNames().values()]).toEqual(['production']);
});

test('returns clusters by name and partitions with their owners', async () => {
  const get = async (path: string) => (await fetch(`${url}/api/v1/${path}`)).json() as Promise<Record<string, unknown>>;
  // The console reads the watcher leases every few seconds, possibly before there are any.
  await expect
    .poll(() => get('overview'))
    .toMatchObject({ clusters: [{ name: 'production', state: 'watched', services: 3 }] });
  const { items } = (await get('partitions')) as { items: { owner: string; epoch: number; lag: number | null }[] };
  expect(items).toHaveLength(16);
  for (const { owner, epoch } of items) {
    expect(owner).toMatch(/^reconciler-/);
    expect(epoch).toBeGreaterThan(1e12);
  }
  expect(await get('dead-letters')).toEqual({ items: [] });
  expect(await get('parked')).toEqual({ items: [] });
  expect(await (await fetch(`${url}/readyz`)).text()).toBe('ok');
});

test('the printed commands work, with the passwords of bus and store', async () => {
  const [, file = ''] = /bin\/sluice doctor --config (\S+)/.exec(fleet.about.join('\n')) ?? [];
  const output = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [main, ...args, '--config', file])).stdout;
  expect(await output('doctor')).toMatch(/^ok +bus and store +connection/m);
  expect(await output('clusters', 'list')).toMatch(/^production +usable /m);
  expect(await output('parked', 'list')).toBe('No parked Services.\n');
  expect(await output('dead-letters', 'list')).toBe('No dead letters.\n');
});

test('reports an unknown Service and an invalid name', async () => {
  const unknown = await sluice('explain', 'nowhere/nothing');
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringMatching(/^error: no history for Service nowhere\/nothing in cluster production\nKnown: \w/),
  ]);
  expect(await sluice('explain', 'nothing')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('NAMESPACE/SERVICE'),
  });
});
