import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RoleProcess } from '@sluice/demo/distributed';
import { type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

/** Fleets of one name that share a Redis, on different NATS servers (ADR 0054). */
const fleet = 'sluice';
let directory: string;
let redis: RedisServer;
let first: Nats;
let second: Nats;
const running: RoleProcess[] = [];
const lines = new Map<RoleProcess, string[]>();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-two-buses-'));
  redis = await startRedis({ directory: join(directory, 'redis') });
  first = await startNats({ directory: join(directory, 'nats-1') });
  second = await startNats({ directory: join(directory, 'nats-2') });
});

afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.splice(0).map(({ exited }) => exited));
});

afterAll(async () => {
  await Promise.all([first?.stop(), second?.stop(), redis?.stop()]);
  rmSync(directory, { recursive: true, force: true });
});

const backends = ({ url }: Nats) => ['--bus', url, '--store', redis.url, '--partitions', '2', '--fleet', fleet];

/** A process that needs no cluster. */
function start(nats: Nats, role: 'reconciler' | 'console' = 'reconciler'): RoleProcess {
  const output: string[] = [];
  const bind = role === 'console' ? '--console-bind-address' : '--metrics-bind-address';
  const args = [...backends(nats), '--log-format', 'json', bind, role === 'console' ? '127.0.0.1:0' : '0'];
  const process = new RoleProcess(role, role, args, (_, line) => void output.push(line));
  running.push(process);
  lines.set(process, output);
  return process;
}

const output = (process: RoleProcess) => (lines.get(process) ?? []).join('\n');
const starts = (process: RoleProcess) => expect.poll(() => output(process)).toContain('"msg":"started"');
const isRunning = ({ child }: RoleProcess) => child.exitCode === null && child.signalCode === null;
const refusal = /running processes of the fleet "sluice" with this store use another bus/;

test('a process on another bus than the running fleet is refused, until the fleet has stopped', async () => {
  const fleetProcess = start(first);
  await starts(fleetProcess);
  for (const role of ['reconciler', 'console'] as const) {
    const other = start(second, role);
    expect(await other.exited).toBe('exit status 2');
    expect(output(other)).toMatch(refusal);
  }
  expect(isRunning(fleetProcess)).toBe(true);
  expect(output(fleetProcess)).not.toMatch(refusal);
  await fleetProcess.stop();
  await starts(start(second));
});

test('a bus that lost all its data serves running and new processes', async () => {
  const fleetProcess = start(first);
  await starts(fleetProcess);
  await first.process.kill();
  rmSync(join(first.directory, 'data'), { recursive: true });
  await first.process.start();
  await first.ready();
  const late = start(first);
  await starts(late);
  // The claim moves to the new identity once the former claim has expired.
  const observer = () => {
    const process = start(first, 'console');
    return Promise.race([starts(process).then(() => 'started'), process.exited]);
  };
  await expect.poll(observer, { interval: 1_000 }).toBe('started');
  const other = start(second);
  expect(await other.exited).toBe('exit status 2');
  expect(output(other)).toMatch(refusal);
  expect([isRunning(fleetProcess), isRunning(late)]).toEqual([true, true]);
});
