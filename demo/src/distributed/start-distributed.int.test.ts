import { connect } from 'node:net';
import { ApiServerHttp, FakeApiServer, type Population, populate } from '@sluice/fake-apiserver';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Distributed, startDistributed } from './start-distributed.ts';
import type { Takeover } from './takeover-observer.ts';

let server: FakeApiServer;
let http: ApiServerHttp;
let population: Population;
let fleet: Distributed;
const takeovers: { readonly process: string; readonly takeover: Takeover }[] = [];
const failures: string[] = [];

beforeAll(async () => {
  server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  population = populate(server, { services: 3, podsPerService: 3, now: systemClock.now() });
  http = new ApiServerHttp({ server, clock: systemClock });
  fleet = await startDistributed({
    bus: 'nats',
    server: await http.listen(),
    clusterName: 'c',
    flags: ['--log-level', 'warn'],
    consoleFlags: [],
    ...{ clock: systemClock, random: seededRandom(2), logger: silentLogger },
    onOutcome: () => {},
    onLine: () => {},
    onTakeover: (process, takeover) => takeovers.push({ process, takeover }),
  });
  void fleet.failed.then((reason) => failures.push(reason));
});

afterAll(async () => {
  await fleet?.stop();
  await http?.close();
});

const pidOf = (name: string) => fleet.processes.find((process) => process.name === name)?.pid;

/** Deletes a Pod and waits until its Service's slices follow. */
async function expectSlices(): Promise<void> {
  const ready = () =>
    server
      .list('endpointslices')
      .items.flatMap(({ endpoints }) => (endpoints ?? []) as readonly { conditions?: { ready?: boolean } }[])
      .filter(({ conditions }) => conditions?.ready === true).length;
  for (const [isReady, count] of [
    [false, 8],
    [true, 9],
  ] as const) {
    server.put('pods', population.podObject(0, 0, isReady));
    await expect.poll(ready).toBe(count);
  }
}

test.each(['watcher', 'reconciler', 'writer'])(
  'both processes of role %s are killed one after the other: others take over, and replacements start',
  async (role) => {
    await expectSlices();
    for (const name of [`${role}-1`, `${role}-2`]) {
      const pid = pidOf(name);
      if (pid === undefined) throw new Error(`${name} is not running`);
      process.kill(pid, 'SIGKILL');
      await expect.poll(() => pidOf(name)).not.toBe(pid);
      await expectSlices();
    }
    // At least one of the two held leases.
    const ofRole = () => takeovers.filter(({ process }) => process.startsWith(role)).length;
    await expect.poll(ofRole).toBeGreaterThan(0);
    for (const { takeover } of takeovers) expect(takeover.tookMs).toBeGreaterThan(0);
    expect(failures).toEqual([]);
  },
);

test('bus and store refuse other users of the machine, who have no password', async () => {
  const about = fleet.about.join(' ');
  const portOf = (scheme: string) => Number(new RegExp(`${scheme}://127\\.0\\.0\\.1:(\\d+)`).exec(about)?.[1]);
  expect(await answerTo(portOf('redis'), 'PING\r\n')).toContain('NOAUTH');
  expect(await answerTo(portOf('nats'), 'CONNECT {}\r\nPING\r\n')).toContain('Authorization Violation');
});

test('the console is replaced at the same address', async () => {
  const pid = pidOf('console');
  if (pid === undefined) throw new Error('the console is not running');
  const url = /http:\S+/.exec(fleet.about[0] ?? '')?.[0];
  process.kill(pid, 'SIGKILL');
  const status = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status;
  await expect.poll(() => pidOf('console')).not.toBe(pid);
  await expect.poll(status).toBe(200);
  expect(failures).toEqual([]);
});

/** What a server sends to a client without credentials, until it sends an error. */
function answerTo(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write(request));
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      if (answer.includes('-')) socket.end();
    });
    socket.once('close', () => resolve(answer));
    socket.once('error', reject);
    socket.setTimeout(5000, () => socket.destroy());
  });
}
