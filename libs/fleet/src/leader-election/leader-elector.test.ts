import { ApiError, type ApiRequest, type ApiResponse } from '@sluice/kubernetes';
import { VirtualClock } from '@sluice/platform';
import { advance, recordingLogger } from '@sluice/platform/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LeaseServer, rejected } from '../testing/lease-server.ts';
import { fenceWrites } from './fence-writes.ts';
import { LeaderElector } from './leader-elector.ts';

const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

/** A clock whose machine can be suspended: only the wall clock continues. */
class SuspendableClock extends VirtualClock {
  suspendedMs = 0;

  override now(): number {
    return super.now() + this.suspendedMs;
  }
}

/** A process on one machine, with a network that can fail. */
interface Member {
  readonly elector: LeaderElector;
  readonly clock: SuspendableClock;
  network: 'up' | 'down' | 'silent';
  readonly stop: AbortController;
}

let clock: SuspendableClock;
let server: LeaseServer;
let members: Member[];
let logger: ReturnType<typeof recordingLogger>;

beforeEach(() => {
  clock = new SuspendableClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new LeaseServer(() => clock.now());
  members = [];
  logger = recordingLogger();
});

afterEach(async () => {
  for (const { stop } of members) stop.abort();
  await advance(clock, 0);
});

function start(
  identity: string,
  {
    at = clock,
    runs = true,
    ...given
  }: Partial<typeof times> & { readonly at?: SuspendableClock; readonly runs?: boolean } = {},
): Member {
  const member: Member = {
    ...{ network: 'up', stop: new AbortController(), clock: at },
    elector: new LeaderElector({
      ...{ ...times, ...given, resourceName: 'leader', resourceNamespace: 'kube-system' },
      ...{ cluster: 'prod', identity, clock: at, logger },
      connection: {
        server: server.server,
        async request(request) {
          if (member.network === 'down') throw rejected(503);
          if (member.network === 'silent') return new Promise<ApiResponse>(() => {});
          return server.request(request);
        },
        async destroy() {},
      },
    }),
  };
  members.push(member);
  if (runs) void member.elector.run(member.stop.signal);
  return member;
}

const leaders = () => members.map(({ elector }) => elector.isLeader);

/** Advances in small steps and asserts at each that at most one process may write. */
async function advanceSafely(ms: number): Promise<void> {
  for (const until = clock.monotonic() + ms; clock.monotonic() < until; ) {
    await advance(clock, 100);
    expect(leaders().filter(Boolean).length).toBeLessThan(2);
  }
}

test('the first process is elected, and others stand by while it renews', async () => {
  start('a');
  await advance(clock, 0);
  start('b');
  await advanceSafely(120_000);
  expect(leaders()).toEqual([true, false]);
  expect(server.spec('leader')).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 1 });
});

test('of processes that start together, one is elected', async () => {
  for (const name of ['a', 'b', 'c']) start(name);
  await advanceSafely(5_000);
  expect(leaders().filter(Boolean)).toHaveLength(1);
});

test.each([0, 500, 1_000, 1_900])(
  'a leader that crashes %d ms after a renewal is replaced within the lease duration and a second',
  async (afterRenewalMs) => {
    const a = start('a');
    start('b');
    await advance(clock, 20_000 + afterRenewalMs);
    a.network = 'silent';
    a.stop.abort();
    await advance(clock, 12_500);
    expect(leaders()[1]).toBe(false);
    await advance(clock, 3_500);
    expect(leaders()[1]).toBe(true);
    expect(server.spec('leader')).toMatchObject({ holderIdentity: 'b', leaseTransitions: 2 });
  },
);

test('a leader that releases its Lease is replaced at once', async () => {
  const a = start('a');
  start('b');
  await advance(clock, 20_000);
  a.stop.abort();
  await a.elector.close();
  expect(a.elector.isLeader).toBe(false);
  await advanceSafely(1_000);
  expect(leaders()).toEqual([false, true]);
});

test('a standby that closes does not release the Lease of the leader', async () => {
  start('a');
  const b = start('b');
  await advance(clock, 5_000);
  b.stop.abort();
  await b.elector.close();
  expect(server.spec('leader')?.holderIdentity).toBe('a');
});

test.each(['down', 'silent'] as const)(
  'a leader whose network is %s stops at the renew deadline, before another takes over',
  async (network) => {
    const a = start('a');
    start('b');
    await advance(clock, 20_000);
    a.network = network;
    await advanceSafely(7_900);
    expect(leaders()).toEqual([true, false]);
    await advanceSafely(2_200);
    expect(leaders()).toEqual([false, false]);
    expect(a.elector.lost.aborted).toBe(true);
    await advanceSafely(6_000);
    expect(leaders()).toEqual([false, true]);
    a.network = 'up';
    await advanceSafely(30_000);
    expect(leaders()).toEqual([false, true]);
  },
);

test('a short outage changes nothing', async () => {
  const a = start('a');
  start('b');
  await advance(clock, 20_000);
  a.network = 'down';
  await advanceSafely(6_000);
  a.network = 'up';
  await advanceSafely(60_000);
  expect(leaders()).toEqual([true, false]);
  expect(logger.messages('error')).toEqual(['cannot acquire or renew leader lease; retrying']);
});

test('a paused process is no leader in its first instant after the renew deadline, before any timer runs', async () => {
  const own = new SuspendableClock(clock.now());
  const a = start('a', { at: own });
  await advance(own, 20_000);
  own.skipTo(own.monotonic() + 9_000);
  expect(a.elector.isLeader).toBe(true);
  own.skipTo(own.monotonic() + 1_000);
  expect(a.elector.isLeader).toBe(false);
});

test('a suspended machine is no leader on resume, although its monotonic clock stood still', async () => {
  const own = new SuspendableClock(clock.now());
  const a = start('a', { at: own });
  await advance(own, 20_000);
  expect(a.elector.isLeader).toBe(true);
  own.suspendedMs = 10_000;
  expect(a.elector.isLeader).toBe(false);
});

test('a standby does not trust the clock of the leader', async () => {
  const behind = new SuspendableClock(clock.now() - 3_600_000);
  const a = start('a', { at: behind });
  await advance(behind, 0);
  start('b');
  for (let passed = 0; passed < 60_000; passed += 100) {
    await Promise.all([advance(behind, 100), advance(clock, 100)]);
    expect(leaders()).toEqual([true, false]);
  }
  a.stop.abort();
});

test('a standby waits as long as the Lease says, not as its own flags say', async () => {
  const a = start('a', { leaseDurationMs: 60_000 });
  start('b');
  await advance(clock, 20_000);
  a.stop.abort();
  a.network = 'silent';
  await advance(clock, 50_000);
  expect(leaders()[1]).toBe(false);
  await advance(clock, 10_000);
  expect(leaders()[1]).toBe(true);
});

describe('a standby that has seen the leader waits for the end of its lease', () => {
  test.each([
    ['is deleted', undefined],
    ['is emptied', {}],
    ['is restored to an earlier release', { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 }],
    [
      'is restored to an earlier release, with as many transitions',
      {
        ...{ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 1 },
        renewTime: '2020-01-01T00:00:00.000000Z',
      },
    ],
    ['gets a shorter duration', { holderIdentity: 'a', leaseDurationSeconds: 1, leaseTransitions: 1 }],
  ])('although the Lease %s', async (_, spec) => {
    const a = start('a');
    start('b');
    await advance(clock, 20_000);
    a.network = 'silent';
    server.write('leader', spec);
    await advanceSafely(12_000);
    expect(leaders()).toEqual([false, false]);
    await advanceSafely(5_000);
    expect(leaders()).toEqual([false, true]);
  });
});

test('a leader creates a Lease that was deleted', async () => {
  start('a');
  start('b');
  await advance(clock, 20_000);
  server.write('leader', undefined);
  await advanceSafely(60_000);
  expect(leaders()).toEqual([true, false]);
  expect(server.spec('leader')).toMatchObject({ holderIdentity: 'a' });
});

test('a 404 of a proxy is no deleted Lease', async () => {
  const member = start('a', { runs: false });
  server.request = () => Promise.reject(new ApiError('', { kind: 'retry', status: 404, reason: 'HTTP404' }));
  await expect(member.elector.check(member.stop.signal)).rejects.toThrow('Lease kube-system/leader');
});

test('a leader ends when another process holds the Lease', async () => {
  const a = start('a');
  await advance(clock, 3_000);
  server.write('leader', { ...server.spec('leader'), holderIdentity: 'intruder' });
  await advance(clock, 2_000);
  expect(a.elector.isLeader).toBe(false);
  expect(a.elector.lost.aborted).toBe(true);
});

test('a renewal counts from the time at which it was sent', async () => {
  const own = new SuspendableClock(clock.now());
  const a = start('a', { at: own });
  await advance(own, 3_000);
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { request } = server;
  server.request = async (sent) => {
    const answerOf = await request.call(server, sent);
    await answered;
    return answerOf;
  };
  await advance(own, 1_000);
  own.skipTo(own.monotonic() + 9_500);
  answer();
  await new Promise((resolve) => setImmediate(resolve));
  expect(a.elector.isLeader).toBe(true);
  own.skipTo(own.monotonic() + 500);
  expect(a.elector.isLeader).toBe(false);
});

test('a Lease that cannot be read is reported before the process stands by', async () => {
  const member = start('a');
  member.network = 'down';
  await expect(member.elector.check(member.stop.signal)).rejects.toThrow(/Lease kube-system\/leader.*503/s);
});

test.each(['GET', 'PUT', 'POST'])(
  'a missing permission for %s is reported before the process stands by, and what to grant',
  async (forbidden) => {
    if (forbidden !== 'POST') start('b');
    await advance(clock, 0);
    const { elector } = start('a');
    const request = server.request.bind(server);
    server.request = (sent) => (sent.method === forbidden ? Promise.reject(rejected(403)) : request(sent));
    await expect(elector.check(new AbortController().signal)).rejects.toThrow(
      'grant get and update on leases.coordination.k8s.io "leader" in the namespace kube-system',
    );
  },
);

test('the check changes nothing', async () => {
  const { elector } = start('a', { runs: false });
  await elector.check(new AbortController().signal);
  expect(server.spec('leader')).toBeUndefined();
});

test('writes pass only while this process is the leader, with a timeout that ends before the lease can expire', async () => {
  const sent: ApiRequest[] = [];
  const client = {
    server: '',
    async request(request: ApiRequest): Promise<ApiResponse> {
      request.beforeSend?.();
      sent.push(request);
      return { status: 200, headers: {}, body: {} };
    },
    stream: () => Promise.reject(new Error('not used')),
  };
  const leader = { isLeader: true };
  const fenced = fenceWrites(client, leader, times);
  const { signal } = new AbortController();
  const write = { method: 'PUT', path: '/api/v1/namespaces/a/endpoints/b', signal } as const;
  await fenced.request(write);
  expect(sent).toEqual([expect.objectContaining({ path: `${write.path}?timeout=5000ms`, timeoutMs: 5_000 })]);
  leader.isLeader = false;
  await expect(fenced.request(write)).rejects.toMatchObject({ reason: 'NotLeader', kind: 'retry' });
  await fenced.request({ ...write, method: 'GET' });
  await fenced.request({ method: 'POST', path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', signal });
  expect(sent).toHaveLength(3);
});
