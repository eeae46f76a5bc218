import { type ApiRequest, type ClusterWriter, type Connection, chainWriter, checkRequests } from '@sluice/kubernetes';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { isUsageError } from '@sluice/platform/process';
import { advance } from '@sluice/platform/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConnectedCluster } from '../clusters/cluster.ts';
import { LeaseServer, rejected } from '../testing/lease-server.ts';
import { guardWrites } from './guard-writes.ts';
import { LeaderElector } from './leader-elector.ts';

const { signal } = new AbortController();
let clock: VirtualClock;
let server: LeaseServer;
let events: string[];
let cleanups: (() => Promise<void>)[];

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new LeaseServer(() => clock.now());
  [events, cleanups] = [[], []];
  hasUpstream = undefined;
});

afterEach(async () => {
  const closed = Promise.all(cleanups.map((close) => close()));
  await advance(clock, 0);
  await closed;
});

const upstreamPod = {
  metadata: { name: 'kube-controller-manager-node-1' },
  spec: { containers: [{ command: ['kube-controller-manager'] }] },
  status: { phase: 'Running' },
};

interface Member {
  readonly cluster: ConnectedCluster;
  /** Whether its election reaches the API server. */
  isReachable: boolean;
}

/** Runs the three controllers; undefined: the check for competing controllers is off, as with --take-over. */
let hasUpstream: boolean | undefined;

async function start(name: string): Promise<Member> {
  const member = { isReachable: true };
  const request = async (sent: ApiRequest) => {
    if (!sent.path.startsWith('/api/v1/') && !sent.path.includes('endpointslices')) return server.request(sent);
    const items = sent.path.includes('/pods?') && hasUpstream ? [upstreamPod] : [];
    return { status: 200, headers: {}, body: { items } };
  };
  const elector = new LeaderElector({
    ...{ leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
    ...{ resourceName: 'sluice-leader', resourceNamespace: 'kube-system', cluster: 'prod', identity: name },
    ...{ clock, logger: silentLogger },
    connection: {
      server: server.server,
      async request(sent) {
        if (!member.isReachable) throw rejected(503);
        return server.request(sent);
      },
      destroy: async () => void events.push(`${name} closed its election`),
    },
  });
  const opened = {
    ...{ name: 'prod', connection: { request } as Partial<Connection> as Connection },
    writer: { delete: async () => undefined } as Partial<ClusterWriter> as ClusterWriter,
    close: async () => void events.push(`${name} closed its connections`),
  } as Partial<ConnectedCluster> as ConnectedCluster;
  // Another process of the same fleet, as with one Lease.
  const fleet = { name: 'sluice run', id: async () => 'kube-system.sluice-leader' };
  const options = { takeOver: hasUpstream === undefined, fleet, elector, clock, logger: silentLogger };
  const cluster = await guardWrites(opened, options, signal);
  cleanups.push(() => cluster.close());
  void cluster.leadership?.started.then(
    () => events.push(`${name} started`),
    () => {},
  );
  void cluster.leadership?.ended.then(
    () => events.push(`${name} ended`),
    () => {},
  );
  return Object.assign(member, { cluster });
}

const claim = () => server.spec('sluice');
const write = ({ cluster: { writer, checks } }: Member) => {
  const checked = chainWriter(writer, checkRequests([checks?.claim, checks?.pause].filter((one) => one !== undefined)));
  return checked.delete('endpoints', 'a', 'b', {}, signal);
};

describe('with leader election', () => {
  test('the leader claims the cluster and may write; a standby does not touch the claim, and closes without having been elected', async () => {
    const a = await start('a');
    await advance(clock, 0);
    expect(claim()).toMatchObject({ holderIdentity: 'sluice run/kube-system.sluice-leader' });
    const b = await start('b');
    await advance(clock, 60_000);
    expect(events).toEqual(['a started']);
    expect([a.cluster.leadership?.isLeader, b.cluster.leadership?.isLeader]).toEqual([true, false]);
    await write(a);
    await b.cluster.close();
    expect(events).toEqual(['a started', 'b closed its connections', 'b closed its election']);
  });

  test('a former leader aborts what is in flight before another starts, which need not wait for the claim', async () => {
    const a = await start('a');
    const b = await start('b');
    await advance(clock, 20_000);
    a.isReachable = false;
    await advance(clock, 10_000);
    expect(events).toEqual(['a started', 'a closed its connections', 'a ended']);
    await advance(clock, 6_000);
    expect(events.slice(3)).toEqual(['b started']);
    await write(b);
  });

  test('a clean exit closes the connections before it releases the lease, and the next leader starts within a second', async () => {
    const a = await start('a');
    await start('b');
    await advance(clock, 20_000);
    const closed = a.cluster.close();
    await advance(clock, 1_000);
    await closed;
    expect(events).toEqual(['a started', 'a closed its connections', 'a closed its election', 'b started']);
  });

  test('a process that is elected while another fleet serves the cluster ends with the name of that fleet', async () => {
    const spec = { holderIdentity: 'blue/1', leaseDurationSeconds: 15 };
    const renew = () => server.write('sluice', { ...spec, renewTime: new Date(clock.now()).toISOString() });
    renew();
    const { cluster } = await start('a');
    const ended = expect(cluster.leadership?.ended).rejects.toSatisfy(
      (error) => isUsageError(error) && error.message.includes('claimed by the fleet "blue"'),
    );
    for (let seconds = 0; seconds < 30; seconds += 5) {
      await advance(clock, 5_000);
      renew();
    }
    await ended;
    expect(events).toEqual([]);
  });

  test('a leader waits for kube-controller-manager before it claims the cluster, starts within a second, and pauses when it is back', async () => {
    hasUpstream = true;
    const a = await start('a');
    await advance(clock, 60_000);
    expect([events, claim()]).toEqual([[], undefined]);
    expect(a.cluster.writesPausedBecause?.()).toContain('runs with these controllers enabled');
    await expect(write(a)).rejects.toMatchObject({ reason: 'WritesPaused' });
    hasUpstream = false;
    await advance(clock, 1_000);
    expect(events).toEqual(['a started']);
    await write(a);
    hasUpstream = true;
    await advance(clock, 20_000);
    await expect(write(a)).rejects.toMatchObject({ reason: 'WritesPaused' });
  });

  test('a leader that cannot check for kube-controller-manager writes nothing', async () => {
    hasUpstream = false;
    const { request } = server;
    server.request = async (sent) => {
      if (sent.path.includes('/leases/kube-controller-manager')) throw rejected(500);
      return request.call(server, sent);
    };
    const a = await start('a');
    await advance(clock, 5_000);
    expect(events).toEqual([]);
    await expect(write(a)).rejects.toMatchObject({ reason: 'WritesPaused' });
  });

  test('a Lease that cannot be read is reported before the process stands by', async () => {
    server.request = async () => {
      throw rejected(403);
    };
    await expect(start('a')).rejects.toThrow('create the Lease kube-system/sluice-leader');
  });
});
