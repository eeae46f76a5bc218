import { ApiError, type ApiRequest, type ApiResponse } from '@sluice/kubernetes';
import { silentLogger, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { beforeEach, expect, test } from 'vitest';
import { claimCluster, keepClaim, releaseClaim } from './cluster-claim.ts';
import { WriteGate } from './write-gate.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const signal = new AbortController().signal;
let clock: VirtualClock;
let lease: Record<string, unknown> | undefined;
let version: number;
let denied: boolean;

beforeEach(() => {
  clock = new VirtualClock(start);
  [lease, version, denied] = [undefined, 0, false];
});

const rejected = (status: number) =>
  new ApiError(`status ${status}`, { kind: status === 409 ? 'conflict' : 'terminal', status, reason: '' });

const connection = {
  async request({ method, body }: ApiRequest): Promise<ApiResponse> {
    if (denied) throw rejected(403);
    const headers = { date: new Date(clock.now()).toUTCString() };
    if (method === 'GET') {
      if (lease === undefined) throw rejected(404);
      return { status: 200, headers, body: lease };
    }
    const given = body as { metadata: { resourceVersion?: string } };
    if (method === 'POST' && lease !== undefined) throw rejected(409);
    if (method === 'PUT' && given.metadata.resourceVersion !== String(version)) throw rejected(409);
    version += 1;
    lease = { ...given, metadata: { ...given.metadata, resourceVersion: String(version) } };
    return { status: 200, headers, body: lease };
  },
};

const of = (name: string, id = name) => ({
  ...{ cluster: 'prod', connection, clock, logger: silentLogger },
  fleet: { name, id: async () => id },
});

test('a second fleet is refused by the name of the holder, until the claim expires', async () => {
  await claimCluster(of('blue'), signal);
  await claimCluster(of('blue'), signal);
  await expect(claimCluster(of('green'), signal)).rejects.toThrow('claimed by the fleet "blue" (id blue)');
  await advance(clock, 20_000);
  await claimCluster(of('green'), signal);
  await expect(claimCluster(of('blue'), signal)).rejects.toThrow('claimed by the fleet "green"');
});

test('an instance that serves listed namespaces claims beside the fleet that excludes them', async () => {
  const requested = new Set<string>();
  const recorded = {
    ...of('infrastructure'),
    connection: {
      async request(request: ApiRequest): Promise<ApiResponse> {
        requested.add(request.path.replace(/.*leases\/?/, ''));
        return connection.request(request);
      },
    },
  };
  await claimCluster({ ...recorded, namespaces: { only: ['kube-system'] } }, signal);
  expect([...requested]).toEqual(['sluice-namespaces', '']);
  expect(lease?.metadata).toMatchObject({ name: 'sluice-namespaces' });
  requested.clear();
  await claimCluster({ ...recorded, namespaces: { except: ['kube-system'] } }, signal);
  expect([...requested]).toEqual(['sluice']);
});

test('fleets of one name with different stores differ by their ids', async () => {
  await claimCluster(of('sluice', 'id-1'), signal);
  await expect(claimCluster(of('sluice', 'id-2'), signal)).rejects.toThrow('"sluice" (id id-1)');
});

test('a running fleet keeps its claim; when it loses it, its writes pause until it has it back', async () => {
  const gate = new WriteGate();
  const stop = new AbortController();
  await claimCluster(of('blue'), signal);
  const kept = keepClaim({ ...of('blue'), gate }, stop.signal);
  await advance(clock, 60_000);
  await expect(claimCluster(of('green'), signal)).rejects.toThrow('blue');
  const spec = {
    holderIdentity: 'green/green',
    leaseDurationSeconds: 15,
    renewTime: new Date(clock.now()).toISOString(),
  };
  lease = { ...lease, spec };
  await advance(clock, 6_000);
  expect(gate.pausedBecause).toContain('claimed by the fleet "green"');
  await advance(clock, 30_000);
  expect(gate.pausedBecause).toBeUndefined();
  stop.abort();
  await advance(clock, 6_000);
  await kept;
});

test('a released claim is free at once', async () => {
  await claimCluster(of('blue'), signal);
  await releaseClaim(of('blue'), signal);
  await claimCluster(of('green'), signal);
});

test('without permission for the Lease the cluster is served unclaimed', async () => {
  denied = true;
  await claimCluster(of('blue'), signal);
});
