/** What the store costs on Redis. `--help` tells the rest. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisServer, startRedis } from '@sluice/local';
import { systemClock as clock, count, optionsGiven, runProgram } from '@sluice/program';
import { silentLogger } from '@sluice/runtime';
import type { Store, StoredEntry } from '@sluice/store';
import { openRedis } from '@sluice/store-redis';

const SCOPES = 64;
const PODS = 5000;
const MEMBERS = 20;
const HEARTBEATS_A_SECOND = 5;

const HELP = `usage: node bench/store.ts [--seconds N]

What the store costs on Redis: small commits, one alone and 64 scopes at once; a scope of one Service with 5,000 Pods;
heartbeats. A Redis of its own on loopback, append-only file every second.

  --seconds N   of each part (5)
`;

const pod = (i: number) => ({
  name: `web-${i}`,
  uid: `uid-${i}`,
  ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
  ready: true,
  zone: 'a',
});

/** Commits to one scope, each from where the last one ended. */
class Committer {
  readonly #store: Store;
  readonly #scope: string;
  #offset = 0;

  constructor(store: Store, scope: string) {
    this.#store = store;
    this.#scope = scope;
  }

  async commit(entries: readonly StoredEntry[]) {
    const expectedOffset = this.#offset;
    const checkpoint = { offset: expectedOffset + 1, id: `r${expectedOffset + 1}`, streamId: 'log' };
    await this.#store.commit({ scope: this.#scope, fencingToken: 1, expectedOffset, checkpoint, entries });
    this.#offset += 1;
  }

  /** What one change of one Pod leads to: a field, a tracker, a plan instead of the one before. */
  async step(): Promise<void> {
    const i = this.#offset;
    const entries = [
      { key: 'c/ns/web', field: `pod/web-${i % 20}`, value: pod(i) },
      { key: 'c/ns/web', field: 'controller/endpointslice', value: { inFlight: `p${i}`, dueAt: null } },
      { key: 'c/ns/web', field: 'controller/endpointslice:plan', value: 'x'.repeat(400) },
    ];
    await this.commit(entries);
  }
}

async function main(): Promise<void> {
  const given = optionsGiven({ seconds: '5' }, HELP);
  if (given === undefined) return;
  const seconds = count('seconds', given.seconds);
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-redis-'));
  const server = await startRedis({ directory });
  const admin = server.connect();
  try {
    const { store, leases, close } = await openRedis(
      { urls: [server.url], fleet: 'bench' },
      { clock, logger: silentLogger },
    );

    const scopes = Array.from({ length: SCOPES }, (_, i) => `reconciler/${i}`);
    await Promise.all(scopes.map((scope) => store.claim(scope, 1)));
    const committers = scopes.map((scope) => new Committer(store, scope));
    let commits = 0;
    const end = performance.now() + seconds * 1000;
    await Promise.all(
      committers.map(async (committer) => {
        for (; performance.now() < end; commits += 1) await committer.step();
      }),
    );
    print(`small commits, ${SCOPES} scopes at once`, `${Math.round(commits / seconds)} per second`);

    const latencies: number[] = [];
    const [alone] = committers;
    for (const until = performance.now() + seconds * 1000; performance.now() < until; ) {
      const start = performance.now();
      await alone?.step();
      latencies.push(performance.now() - start);
    }
    latencies.sort((a, b) => a - b);
    print('small commits, one alone', `p50 ${milliseconds(latencies, 0.5)}, p99 ${milliseconds(latencies, 0.99)}`);

    const before = await usedMemory(admin);
    await store.claim('large', 1);
    const large = new Committer(store, 'large');
    const entries = Array.from({ length: PODS }, (_, i) => ({
      key: 'c/ns/large',
      field: `pod/web-${i}`,
      value: pod(i),
    }));
    print(`first commit of ${PODS} Pods`, await timed(() => large.commit(entries)));
    const memory = (await usedMemory(admin)) - before;
    const json = entries.reduce((bytes, { value }) => bytes + JSON.stringify(value).length, 0);
    print(
      `memory of ${PODS} Pods`,
      `${(memory / 1e6).toFixed(1)} MB in Redis for ${(json / 1e6).toFixed(1)} MB of JSON`,
    );
    print(
      `one Pod of ${PODS} changes`,
      await timed(() => large.commit([{ key: 'c/ns/large', field: 'pod/web-7', value: pod(9) }])),
    );
    print(`claim of ${PODS} Pods`, await timed(() => store.claim('large', 2)));

    const members = Array.from({ length: MEMBERS }, (_, i) => `member-${i}`);
    const beat = (member: string, acquire: readonly string[] = []) =>
      leases.heartbeat({ group: 'reconciler', member, ttlMs: 60_000, release: [], acquire });
    for (const [i, member] of members.entries())
      await beat(
        member,
        scopes.filter((_, s) => s % MEMBERS === i),
      );
    const cpu = await serverCpu(admin);
    const beats = MEMBERS * HEARTBEATS_A_SECOND * 20;
    for (let i = 0; i < beats; i += 1) await beat(members[i % MEMBERS] ?? '');
    const each = ((await serverCpu(admin)) - cpu) / beats;
    const share = each * MEMBERS * HEARTBEATS_A_SECOND * 100;
    print(
      `heartbeats, ${SCOPES} leases, ${MEMBERS} members`,
      `${Math.round(each * 1e6)} µs of Redis each; at ${HEARTBEATS_A_SECOND} a second each ${share.toFixed(1)} % of a core`,
    );
    close();
  } finally {
    admin.disconnect();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

type Admin = ReturnType<RedisServer['connect']>;

function print(what: string, figure: string): void {
  process.stdout.write(`${what.padEnd(40)} ${figure}\n`);
}

async function timed(action: () => Promise<unknown>): Promise<string> {
  const start = performance.now();
  await action();
  return `${(performance.now() - start).toFixed(1)} ms`;
}

function milliseconds(sorted: readonly number[], quantile: number): string {
  return `${(sorted[Math.floor(sorted.length * quantile)] ?? 0).toFixed(2)} ms`;
}

async function fact(admin: Admin, section: string, name: string): Promise<number> {
  return Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(await admin.info(section))?.[1]);
}

function usedMemory(admin: Admin): Promise<number> {
  return fact(admin, 'memory', 'used_memory');
}

/** Seconds of CPU that the server has used. */
async function serverCpu(admin: Admin): Promise<number> {
  return (await fact(admin, 'cpu', 'used_cpu_user')) + (await fact(admin, 'cpu', 'used_cpu_sys'));
}

await runProgram(main);
