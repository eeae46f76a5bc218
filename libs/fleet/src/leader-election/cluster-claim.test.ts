import {
  ApiError,
  type ApiRequest,
  type ApiResponse,
  type ClusterWriter,
  chainWriter,
  checkRequests,
  type NamespaceScope,
} from '@sluice/kubernetes';
import { type Clock, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { ClusterClaim } from './cluster-claim.ts';
import { WriteGate } from './write-gate.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const signal = new AbortController().signal;
let clock: VirtualClock;
let lease: Record<string, unknown> | undefined;
let version: number;
/** Status with which the API server rejects every request; 0: it does not. */
let rejects: number;
let requested: string[];
let isSameCluster: boolean;

beforeEach(() => {
  clock = new VirtualClock(start);
  [lease, version, rejects, requested, isSameCluster] = [undefined, 0, 0, [], true];
  groups = { kind: 'APIGroupList', groups: [{ name: 'coordination.k8s.io' }] };
});

const rejected = (status: number) => {
  const kind = status === 409 ? 'conflict' : status === 404 ? 'notFound' : status >= 500 ? 'retry' : 'terminal';
  return new ApiError(`status ${status}`, { kind, status, reason: '' });
};

/** The answer to discovery: with Leases, or of a server that is no Kubernetes. */
let groups: unknown;

const connection = {
  server: 'https://cluster.example.org',
  async request({ method, path, body }: ApiRequest): Promise<ApiResponse> {
    if (path === '/apis') return { status: 200, headers: {}, body: groups };
    requested.push(`${method} ${path.replace(/.*leases\/?/, '')}`);
    if (rejects > 0) throw rejected(rejects);
    const headers = { date: new Date(clock.now()).toUTCString() };
    if (method === 'GET') {
      if (lease === undefined) throw rejected(404);
      return { status: 200, headers, body: lease };
    }
    const given = body as { metadata: { resourceVersion?: string } };
    if (method === 'POST' && lease !== undefined) throw rejected(409);
    if (method === 'PUT' && given.metadata.resourceVersion !== String(version)) throw rejected(409);
    version += 1;
    lease = { ...given, metadata: { uid: 'lease-1', ...given.metadata, resourceVersion: String(version) } };
    return { status: 200, headers, body: lease };
  },
};

interface Given {
  readonly id?: string | (() => Promise<string>);
  readonly namespaces?: NamespaceScope;
  readonly takeOver?: boolean;
  readonly clock?: Clock;
}

function claimOf(name: string, { id = name, ...given }: Given = {}) {
  const gate = new WriteGate();
  const fleet = { name, id: typeof id === 'string' ? async () => id : id };
  const claim = new ClusterClaim({
    ...{ cluster: 'prod', connection, gate, clock, logger: silentLogger, fleet },
    isSameCluster: async () => isSameCluster,
    ...given,
  });
  return { claim, gate };
}

/** Claims while time passes. Returns the reason of a refusal. */
async function acquire({ claim }: { readonly claim: ClusterClaim }, ms = 25_000): Promise<string | undefined> {
  let refusal: string | undefined = 'pending';
  void claim.acquire(signal).then(
    () => {
      refusal = undefined;
    },
    (error: Error) => {
      refusal = error.message;
    },
  );
  await advance(clock, ms);
  return refusal;
}

/** Serves the cluster until the returned function is called. */
async function serve(one: { readonly claim: ClusterClaim }): Promise<() => Promise<void>> {
  expect(await acquire(one, 0)).toBeUndefined();
  const stop = new AbortController();
  const kept = one.claim.keep(stop.signal);
  return async () => {
    stop.abort();
    await advance(clock, 0);
    await kept;
  };
}

const write = ({ claim, gate }: { readonly claim: ClusterClaim; readonly gate: WriteGate }, until = signal) => {
  const cluster = { delete: async () => undefined } as Partial<ClusterWriter> as ClusterWriter;
  return chainWriter(cluster, checkRequests([claim, gate])).delete('endpoints', 'a', 'b', {}, until);
};

test('a write that waits for a connection until the claim may have expired is not sent', async () => {
  const { claim } = claimOf('blue');
  await claim.acquire(signal);
  let sent = 0;
  let waitMs = 20_000;
  const cluster = {
    delete: async (_resource, _namespace, _name, _preconditions, _signal, beforeSend) => {
      await advance(clock, waitMs);
      beforeSend?.();
      sent++;
    },
  } as Partial<ClusterWriter> as ClusterWriter;
  const writer = chainWriter(cluster, checkRequests([claim]));
  await expect(writer.delete('endpoints', 'a', 'b', {}, signal)).rejects.toMatchObject({ kind: 'retry' });
  expect(sent).toBe(0);
  waitMs = 1_000;
  await writer.delete('endpoints', 'a', 'b', {}, signal);
  expect(sent).toBe(1);
});

test('a second fleet is refused by the name of the holder while that fleet runs', async () => {
  const stop = await serve(claimOf('blue'));
  expect(await acquire(claimOf('green'))).toContain('claimed by the fleet "blue" (id blue)');
  await stop();
});

test('the claim of a crashed fleet is taken over once it has expired', async () => {
  const stop = await serve(claimOf('blue'));
  await advance(clock, 7_000);
  await stop();
  expect(await acquire(claimOf('green'), 10_000)).toBe('pending');
  await advance(clock, 4_000);
  expect(lease?.spec).toMatchObject({ holderIdentity: 'green/green' });
});

test('two processes of one host are distinct by their ids', async () => {
  const stop = await serve(claimOf('sluice run', { id: 'host_1_ab' }));
  expect(await acquire(claimOf('sluice run', { id: 'host_2_cd' }))).toContain('"sluice run" (id host_1_ab)');
  await stop();
});

test('a refusal names the whole holder, whatever it contains', async () => {
  const stop = await serve(claimOf('a/b', { id: 'c' }));
  expect(await acquire(claimOf('green'))).toContain('the fleet "a/b" (id c)');
  await stop();
});

test('an instance that serves listed namespaces claims beside the fleet that excludes them', async () => {
  await acquire(claimOf('infrastructure', { namespaces: { only: ['kube-system'] } }), 0);
  expect(requested).toEqual(['GET sluice-namespaces', 'POST ', 'GET sluice-namespaces', 'PUT sluice-namespaces']);
  expect(lease?.metadata).toMatchObject({ name: 'sluice-namespaces' });
  requested = [];
  await acquire(claimOf('fleet', { namespaces: { except: ['kube-system'] } }), 0);
  expect(requested[0]).toBe('GET sluice');
});

test('a running fleet keeps its claim; when it loses it, its writes pause until it has it back', async () => {
  const one = claimOf('blue');
  const stop = await serve(one);
  await advance(clock, 60_000);
  expect(await acquire(claimOf('green'))).toContain('blue');
  const renewTime = new Date(clock.now()).toISOString();
  lease = { ...lease, spec: { holderIdentity: 'green/green', leaseDurationSeconds: 15, renewTime } };
  await advance(clock, 6_000);
  expect(one.gate.pausedBecause).toContain('claimed by the fleet "green"');
  await expect(write(one)).rejects.toMatchObject({ reason: 'WritesPaused' });
  await advance(clock, 30_000);
  expect(one.gate.pausedBecause).toBeUndefined();
  await write(one);
  await stop();
});

describe('when the store of the fleet', () => {
  test('has lost its id, the process that knows the former id renews the claim under the new one at once', async () => {
    let id = 'former';
    const one = claimOf('blue', { id: async () => id });
    const stop = await serve(one);
    id = 'new';
    const restarted = claimOf('blue', { id });
    expect(await acquire(restarted, 7_000)).toBeUndefined();
    expect(lease?.spec).toMatchObject({ holderIdentity: 'blue/new' });
    expect(one.gate.pausedBecause).toBeUndefined();
    await write(one);
    await stop();
  });

  test('is unreachable, writes are retried, and the claim is renewed afterwards', async () => {
    let outage = false;
    const id = async () => {
      if (outage) throw new Error('no answer from Redis');
      return 'id';
    };
    const one = claimOf('blue', { id });
    const stop = await serve(one);
    outage = true;
    await advance(clock, 30_000);
    await expect(write(one)).rejects.toMatchObject({ kind: 'retry', message: expect.stringContaining('no answer') });
    const renewTime = new Date(clock.now()).toISOString();
    lease = { ...lease, spec: { holderIdentity: 'green/green', leaseDurationSeconds: 15, renewTime } };
    outage = false;
    await advance(clock, 6_000);
    expect(one.gate.pausedBecause).toContain('green');
    outage = true;
    await advance(clock, 30_000);
    outage = false;
    await advance(clock, 6_000);
    expect(one.gate.pausedBecause).toBeUndefined();
    await stop();
  });

  test('does not answer, renewals, claims and writes end at once when the process stops', async () => {
    let isAnswering = true;
    const id = () => (isAnswering ? Promise.resolve('id') : new Promise<string>(() => {}));
    const one = claimOf('blue', { id });
    const stop = await serve(one);
    isAnswering = false;
    await advance(clock, 20_000);
    const stopping = new AbortController();
    const written = write(one, stopping.signal);
    const claimed = claimOf('blue', { id }).claim.acquire(stopping.signal);
    stopping.abort(new Error('stopping'));
    await expect(written).rejects.toThrow('stopping');
    await expect(claimed).rejects.toThrow('stopping');
    await stop();
  });
});

describe('release', () => {
  test('frees the claim at once', async () => {
    const one = claimOf('blue');
    await (await serve(one))();
    await one.claim.release(1_000);
    expect(await acquire(claimOf('green'), 0)).toBeUndefined();
  });

  test('leaves the claim of another fleet, and the same Lease of another cluster, alone', async () => {
    const one = claimOf('blue');
    await (await serve(one))();
    const other = { ...lease, metadata: { ...(lease?.metadata as object), uid: 'lease-of-another-cluster' } };
    lease = other;
    await one.claim.release(1_000);
    expect(lease).toBe(other);
    const stranger = claimOf('green');
    await stranger.claim.release(1_000);
    expect(lease).toBe(other);
  });
});

describe('a claim that could not be renewed in time', () => {
  test('is renewed before the next write, which fails like the renewal', async () => {
    const one = claimOf('blue');
    const stop = await serve(one);
    rejects = 503;
    await advance(clock, 10_000);
    await write(one);
    await advance(clock, 20_000);
    await expect(write(one)).rejects.toMatchObject({ status: 503, message: 'status 503' });
    rejects = 0;
    requested = [];
    await Promise.all([write(one), write(one)]);
    expect(requested).toEqual(['GET sluice', 'PUT sluice']);
    await stop();
  });

  test('lets no write pass once another fleet has the cluster, before the next renewal', async () => {
    const one = claimOf('blue');
    await (await serve(one))();
    await advance(clock, 20_000);
    const stop = await serve(claimOf('green'));
    await expect(write(one)).rejects.toMatchObject({ reason: 'WritesPaused', kind: 'retry' });
    await stop();
  });

  test('pauses writes and names the permission that was withdrawn', async () => {
    const one = claimOf('blue');
    const stop = await serve(one);
    rejects = 403;
    await advance(clock, 20_000);
    expect(one.gate.pausedBecause).toContain('grant get and update on leases.coordination.k8s.io "sluice"');
    rejects = 0;
    await advance(clock, 6_000);
    expect(one.gate.pausedBecause).toBeUndefined();
    await stop();
  });
});

describe('without permission for the Lease', () => {
  test('the cluster is not served, and the error names permission and file', async () => {
    rejects = 403;
    const refusal = await acquire(claimOf('blue'));
    expect(refusal).toContain(
      'grant get and update on leases.coordination.k8s.io "sluice" in the namespace kube-system',
    );
    expect(refusal).toContain('infra/kubernetes/rbac.yaml');
  });

  test('the cluster is served unclaimed with --take-over', async () => {
    rejects = 403;
    const one = claimOf('blue', { takeOver: true });
    const stop = await serve(one);
    await advance(clock, 60_000);
    await write(one);
    await stop();
  });
});

test('a failing API server is not mistaken for one without Leases', async () => {
  rejects = 500;
  expect(await acquire(claimOf('blue'))).toContain('cannot use cluster prod: status 500');
});

test('a server without Leases, which is no Kubernetes, is served unclaimed', async () => {
  rejects = 404;
  groups = { kind: 'APIGroupList', groups: [{ name: 'discovery.k8s.io' }] };
  const one = claimOf('blue');
  const stop = await serve(one);
  await advance(clock, 60_000);
  await write(one);
  await stop();
});

test('a write that waited for the renewal of a claim is checked again before it is sent', async () => {
  const { claim } = claimOf('a');
  expect(await acquire({ claim })).toBeUndefined();
  await advance(clock, 3_600_000);
  let isCurrent = true;
  const sent: string[] = [];
  const base = {
    async update(_resource: unknown, { metadata }: { metadata: { name: string } }, _: unknown, beforeSend: () => void) {
      // The lease expires while the claim is renewed.
      isCurrent = false;
      beforeSend();
      sent.push(metadata.name);
    },
  } as unknown as ClusterWriter;
  const lease = {
    assert() {
      if (!isCurrent) throw new RangeError('lease expired');
    },
  };
  const slice = { metadata: { namespace: 'shop', name: 'web-x' }, addressType: 'IPv4' as const, endpoints: [] };
  const write = chainWriter(base, checkRequests([lease, claim])).update('endpointslices', slice, signal);
  await expect(write).rejects.toThrow('lease expired');
  expect(sent).toEqual([]);
});

test('a proxy that answers 404 for a while is not mistaken for a server without Leases', async () => {
  rejects = 404;
  groups = 'default backend - 404';
  expect(await acquire(claimOf('blue'))).toContain('cannot use cluster prod: status 404');
});

test.each([-3_600_000, 3_600_000])(
  'a claim of a process whose clock is off by %d ms expires on time',
  async (offMs) => {
    const now = () => clock.now() + offMs;
    const own: Clock = { now, monotonic: () => clock.monotonic(), schedule: (...args) => clock.schedule(...args) };
    const stop = await serve(claimOf('blue', { clock: own }));
    expect(await acquire(claimOf('green'))).toContain('blue');
    await stop();
    expect(await acquire(claimOf('green'), 16_000)).toBeUndefined();
  },
);

test('a machine that was suspended renews its claim before the next write', async () => {
  let suspendedMs = 0;
  const now = () => clock.now() + suspendedMs;
  const own: Clock = { now, monotonic: () => clock.monotonic(), schedule: (...args) => clock.schedule(...args) };
  const one = claimOf('blue', { clock: own });
  await (await serve(one))();
  requested = [];
  suspendedMs = 60_000;
  await write(one);
  expect(requested).toEqual(['GET sluice']);
});

test('another cluster at the address is neither claimed nor written to', async () => {
  const one = claimOf('blue');
  const stop = await serve(one);
  const metadata = { ...(lease?.metadata as object), uid: 'lease-of-another-cluster', resourceVersion: '1' };
  const other = { metadata, spec: {} };
  [lease, isSameCluster] = [other, false];
  await advance(clock, 30_000);
  await expect(write(one)).rejects.toMatchObject({ kind: 'retry', reason: 'ClusterReplaced' });
  expect(lease).toBe(other);
  await stop();
});

test('a claim that a wrong clock has written far ahead is taken over once nobody renews it', async () => {
  const stop = await serve(claimOf('blue'));
  await stop();
  const renewTime = new Date(clock.now() + 3_600_000).toISOString();
  lease = { ...lease, spec: { holderIdentity: 'blue/blue', leaseDurationSeconds: 15, renewTime } };
  expect(await acquire(claimOf('green'), 19_000)).toBe('pending');
  await advance(clock, 3_000);
  expect(lease?.spec).toMatchObject({ holderIdentity: 'green/green' });
});

test.each([
  ['a renewal in the future', { renewTime: new Date(start + 3_600_000).toISOString() }],
  ['a shorter duration', { leaseDurationSeconds: 5 }],
  ['a longer duration', { leaseDurationSeconds: 3_600 }],
])('a fleet renews its own claim at once if somebody has given it %s', async (_, edited) => {
  const blue = claimOf('blue');
  await blue.claim.acquire(signal);
  const spec = lease?.spec as object;
  lease = { ...lease, spec: { ...spec, ...edited } };
  await claimOf('blue').claim.acquire(signal);
  expect(lease.spec).toEqual(spec);
});
