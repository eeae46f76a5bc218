import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type RedisServer, startRedis } from '@sluice/local';
import { silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { openRedis, type RedisPorts } from '@sluice/store/redis';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

/**
 * A process whose event loop is blocked, and another member that acquires its lease as soon as it is free, on a real
 * Redis.
 */
const program = fileURLToPath(new URL('./harness/blocked-member.ts', import.meta.url));
/** Shorter than the five seconds for which `Ownership` lets the thread renew. */
const ttlMs = 3_000;

let directory: string;
let redis: RedisServer;
let competitor: RedisPorts;
let fleet: string;
let member: ChildProcess | undefined;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-lease-thread-'));
  redis = await startRedis({ directory });
});

afterEach(() => {
  member?.kill('SIGKILL');
  competitor?.close();
});

afterAll(async () => {
  await redis?.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** The member continues when this file exists. */
const end = () => join(directory, fleet);

/** Starts the member; resolves with its output when it holds the lease and starts to block. */
async function start(blockMs: number): Promise<readonly string[]> {
  fleet = `fleet-${Math.round(performance.now())}`;
  competitor = await openRedis({ urls: [redis.url], fleet }, { clock: systemClock, logger: silentLogger });
  const lines: string[] = [];
  member = spawn(process.execPath, [program, redis.url, fleet, String(ttlMs), String(blockMs), end()], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (member.stdout === null) throw new Error('the member has no standard output');
  createInterface(member.stdout).on('line', (line) => void lines.push(line));
  await expect.poll(() => lines[0]).toMatch(/^held \d+$/);
  return lines;
}

/** Tries to acquire the lease; resolves with the holder. */
async function contend(): Promise<string | undefined> {
  const request = { group: 'writer', member: 'competitor', ttlMs, release: [], acquire: ['0'] };
  return (await competitor.leases.heartbeat(request)).leases[0]?.holder;
}

test('a lease survives an event loop that is blocked for longer than its TTL', async () => {
  const lines = await start(1.5 * ttlMs);
  const holders = new Set<string | undefined>();
  const contending = async () => {
    holders.add(await contend());
    return lines;
  };
  await expect.poll(contending).toContain('current true');
  expect([...holders]).toEqual([`blocked-${member?.pid}`]);
});

test('an event loop that stays blocked loses the lease and notices it when it continues', async () => {
  const lines = await start(3_600_000);
  await expect.poll(contend).toBe('competitor');
  expect(lines).toHaveLength(1);
  writeFileSync(end(), '');
  await expect.poll(() => lines).toContain('current false');
});

test('a stopped process loses the lease', async () => {
  await start(0);
  member?.kill('SIGSTOP');
  await expect.poll(contend).toBe('competitor');
});
