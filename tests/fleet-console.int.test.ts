import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Distributed, startDistributed } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, type Population, populate } from '@sluice/fake-apiserver';
import { systemClock } from '@sluice/process';
import { seededRandom, silentLogger } from '@sluice/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Somebody deletes a Pod and asks a fleet of processes on real NATS and Redis, in a terminal, what became of it. */
const main = fileURLToPath(new URL('../services/sluice/src/main.ts', import.meta.url));
let http: ApiServerHttp;
let server: FakeApiServer;
let population: Population;
let fleet: Distributed;
let url: string;
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
      consoleFlags: [],
      onOutcome: () => {},
    },
    onLine: (process, line) => void log.push(`${process}: ${line}`),
  });
  url = /http:\S+/.exec(fleet.about[0] ?? '')?.[0] ?? '';
}, 300_000);

afterAll(async () => {
  await fleet?.stop();
  await http?.close();
}, 60_000);

interface Told {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

async function sluice(...args: string[]): Promise<Told> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [main, ...args, '--console', url]);
    return { stdout, stderr, code: 0 };
  } catch (error) {
    const { stdout, stderr, code } = error as Told;
    return { stdout, stderr, code };
  }
}

/** Asks until the answer is as it should be, which takes as long as processes take to start. */
async function until(ask: () => Promise<Told>, isRight: (told: Told) => boolean): Promise<Told> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    const told = await ask();
    if (isRight(told)) return told;
    if (performance.now() > deadline) throw new Error(`${told.stdout}${told.stderr}\n${log.slice(-20).join('\n')}`);
    await sleep(200);
  }
}

test('a Pod is deleted: when and why endpoint was removed, and how long it took', async () => {
  const { namespace, name: pod } = population.pod(0, 0);
  const service = `${namespace}/${population.services[0]?.name}`;
  const before = await until(
    () => sluice('explain', service),
    ({ stdout }) => stdout.includes(`Service ${service} in production, now: ok, 3 of 3 endpoints ready`),
  );
  expect(before.stdout).toContain(`${pod}: ready`);

  server.delete('pods', namespace, pod);
  const leaving = await until(
    () => sluice('explain', service, '--pod', pod),
    ({ stdout }) => stdout.includes('terminating'),
  );
  expect(leaving.stdout).toContain('it is being deleted');
  // As the kubelet does once it has stopped.
  server.delete('pods', namespace, pod, { gracePeriodSeconds: 0 });
  const explained = await until(
    () => sluice('explain', service, '--pod', pod),
    ({ stdout }) => stdout.includes('endpoint was removed'),
  );
  expect(explained.stdout).toMatch(
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
    ...{ kind: 'done', status: 'applied', latencyMs: expect.any(Number) },
    endpoints: [{ what: 'removed', pod }],
  });
  expect((await sluice('history', service, '--pod', pod)).stdout).toContain(`− ${pod} `);
}, 300_000);

test('the fleet itself: clusters by name, partitions with their owners', async () => {
  const ask = async (path: string) => (await fetch(`${url}/api/v1/${path}`)).json() as Promise<Record<string, unknown>>;
  // The console looks at the leases of watchers every few seconds; its first look may be before there is one.
  await expect
    .poll(() => ask('overview'), { timeout: 60_000 })
    .toMatchObject({ clusters: [{ name: 'production', state: 'watched', services: 3 }] });
  const { items } = (await ask('partitions')) as { items: { owner: string; epoch: number; lag: number | null }[] };
  expect(items).toHaveLength(16);
  for (const { owner, epoch } of items) {
    expect(owner).toMatch(/^reconciler-/);
    expect(epoch).toBeGreaterThan(1e12);
  }
  expect(await ask('dead-letters')).toEqual({ items: [] });
  expect(await ask('parked')).toEqual({ items: [] });
  expect(await (await fetch(`${url}/readyz`)).text()).toBe('ok');
});

test('what is not there is told, with what to do', async () => {
  const unknown = await sluice('explain', 'nowhere/nothing');
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringContaining('no history for Service nowhere/nothing'),
  ]);
  expect(await sluice('explain', 'nothing')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('NAMESPACE/SERVICE'),
  });
});
