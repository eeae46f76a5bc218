import type { EndpointSlice } from '@sluice/model';
import { seededRandom } from '@sluice/platform';
import { describe, expect, it } from 'vitest';
import { type Fault, FaultPlan } from '../faults/fault-plan.ts';
import { newServer, slice } from '../testing/fixtures.ts';
import { FakeClient } from './fake-client.ts';

const { signal } = new AbortController();

function newCluster(...faults: Fault[]) {
  const { server, clock } = newServer();
  const cluster = new FakeClient(server, { clock, faults: new FaultPlan(faults, seededRandom(1)) });
  return { server, clock, cluster };
}

const webSlice = (metadata: object = {}) => slice('x', { metadata }) as unknown as EndpointSlice;

describe('FakeClient', () => {
  it('returns the stored metadata of written objects', async () => {
    const { cluster, server } = newCluster();
    const created = await cluster.create('endpointslices', webSlice(), signal);
    expect(created).toMatchObject({ name: 'x', generation: 1 });
    const changed = webSlice({ labels: { a: 'b' }, resourceVersion: created.resourceVersion });
    const updated = await cluster.update('endpointslices', changed, signal);
    expect(updated).toMatchObject({ uid: created.uid, generation: 2 });
    await expect(cluster.update('endpointslices', changed, signal)).rejects.toMatchObject({ kind: 'conflict' });
    await cluster.delete('endpointslices', 'default', 'x', { uid: created.uid }, signal);
    expect(server.count('endpointslices')).toBe(0);
  });

  it('lists and watches', async () => {
    const { cluster, server } = newCluster();
    server.create('endpointslices', slice('a'));
    const page = await cluster.list('endpointslices', { limit: 500, continueToken: '' }, signal);
    expect(page.items).toHaveLength(1);
    const stop = new AbortController();
    const batches: string[] = [];
    const done = (async () => {
      for await (const batch of cluster.watch('endpointslices', page.resourceVersion, stop.signal)) {
        batches.push(batch.map((event) => event.type).join());
        if (batches.length === 3) stop.abort();
      }
    })();
    await new Promise(setImmediate);
    server.create('endpointslices', slice('b'));
    server.delete('endpointslices', 'default', 'b');
    await new Promise(setImmediate);
    server.sendBookmarks();
    await done;
    expect(batches).toEqual(['', 'ADDED,DELETED', 'BOOKMARK']);
  });

  it('streams initial events on request', async () => {
    const { cluster, server } = newCluster();
    server.create('endpointslices', slice('a'));
    const batches: unknown[] = [];
    for await (const batch of cluster.watch('endpointslices', '', signal, { sendInitialEvents: true })) {
      batches.push(...batch);
      if (batches.length === 2) break;
    }
    const { resourceVersion } = server;
    expect(batches).toMatchObject([{ type: 'ADDED' }, { type: 'BOOKMARK', resourceVersion, initialEventsEnd: true }]);
  });

  it('reports gone when the watch starts too early', async () => {
    const { cluster, server } = newCluster();
    const { resourceVersion } = server;
    server.create('pods', { metadata: { name: 'p' } });
    server.compact();
    const watch = cluster.watch('pods', resourceVersion, signal)[Symbol.asyncIterator]();
    await expect(watch.next()).rejects.toMatchObject({ kind: 'gone', status: 410 });
  });

  const reactions: readonly [Fault['error'] & string, object, string][] = [
    [
      'conflict',
      { kind: 'conflict', status: 409 },
      'Operation cannot be fulfilled on endpointslices.discovery.k8s.io "x": injected',
    ],
    ['notfound', { kind: 'notFound', status: 404 }, 'endpointslices.discovery.k8s.io "x" not found'],
    ['alreadyexists', { kind: 'conflict', status: 409 }, 'endpointslices.discovery.k8s.io "x" already exists'],
    ['forbidden', { kind: 'terminal', status: 403 }, 'endpointslices.discovery.k8s.io "x" is forbidden: injected'],
    [
      'forbiddenTerminating',
      { kind: 'namespaceTerminating', status: 403 },
      'endpointslices.discovery.k8s.io "x" is forbidden: unable to create new content in namespace because it is being terminated',
    ],
    ['internal', { kind: 'retry', status: 500 }, 'Internal error occurred: injected'],
    [
      'tooManyRequests',
      { kind: 'retry', status: 429, retryAfterMs: 1000 },
      'the server has received too many requests and has asked us to try again later',
    ],
    ['unavailable', { kind: 'retry', status: 503 }, 'injected'],
    ['reset', { kind: 'retry', status: 0, reason: 'ECONNRESET' }, 'read ECONNRESET'],
  ];
  it.each(reactions)('fault %s', async (error, expected, message) => {
    const { cluster, server } = newCluster({ verb: 'create', resource: 'endpointslices', error, times: 1 });
    await expect(cluster.create('endpointslices', webSlice(), signal)).rejects.toMatchObject({ ...expected, message });
    expect(server.count('endpointslices')).toBe(0);
    await expect(cluster.create('endpointslices', webSlice(), signal)).resolves.toMatchObject({ name: 'x' });
  });

  it('loses the response of an executed request', async () => {
    const { cluster } = newCluster({ verb: 'create', error: 'resetAfter', times: 1 });
    await expect(cluster.create('endpointslices', webSlice(), signal)).rejects.toMatchObject({ kind: 'retry' });
    await expect(cluster.create('endpointslices', webSlice(), signal)).rejects.toMatchObject({
      reason: 'AlreadyExists',
    });
  });

  it('executes a request late, after its connection has broken', async () => {
    const { cluster, clock, server } = newCluster({ verb: 'create', error: 'late', lateMs: 300, times: 1 });
    await expect(cluster.create('endpointslices', webSlice(), signal)).rejects.toMatchObject({ kind: 'retry' });
    const sentAt = clock.now();
    expect(clock.step(sentAt + 299)).toBe(false);
    expect(server.count('endpointslices')).toBe(0);
    clock.step(sentAt + 300);
    expect(server.count('endpointslices')).toBe(1);
  });

  it('ignores the error of a late request', async () => {
    const { cluster, clock, server } = newCluster({ verb: 'create', error: 'late', lateMs: 300, times: 1 });
    await expect(cluster.create('endpointslices', webSlice(), signal)).rejects.toMatchObject({ kind: 'retry' });
    await cluster.create('endpointslices', webSlice(), signal);
    expect(clock.step()).toBe(true);
    expect(server.count('endpointslices')).toBe(1);
  });

  it('applies faults in order, and by name', async () => {
    const { cluster } = newCluster(
      { verb: 'create', name: 'other', error: 'forbidden' },
      { verb: 'create', latencyMs: 0, times: 1 },
      { verb: 'create', error: 'internal', times: 2 },
      { verb: 'create', error: 'conflict', times: 1 },
    );
    const codes: number[] = [];
    for (let i = 0; i < 4; i++) {
      const code = cluster.create('endpointslices', webSlice(), signal).then(
        () => 201,
        (error) => error.status,
      );
      codes.push(await code);
    }
    expect(codes).toEqual([500, 500, 409, 201]);
  });

  it('delays requests by the clock', async () => {
    const { cluster, clock, server } = newCluster({ latencyMs: 250 });
    const created = cluster.create('endpointslices', webSlice(), signal);
    await Promise.resolve();
    expect(server.count('endpointslices')).toBe(0);
    clock.step();
    await created;
    expect(server.count('endpointslices')).toBe(1);
  });

  it('delays a request that several faults delay no longer than the slowest of them', async () => {
    const { cluster, clock } = newCluster({ latencyMs: 250 }, { latencyMs: 400 }, { latencyMs: 100 });
    const created = cluster.create('endpointslices', webSlice(), signal);
    await Promise.resolve();
    expect(clock.nextAt()).toBe(clock.now() + 400);
    clock.step();
    await created;
  });

  it.each([
    ['reset', 'rejects'],
    ['end', 'ends'],
  ] as const)('cuts a watch after some events: %s', async (error, how) => {
    const { cluster, server } = newCluster({ verb: 'watch', error, afterEvents: 1, times: 1 });
    server.create('endpointslices', slice('a'));
    server.create('endpointslices', slice('b'));
    const watch = cluster.watch('endpointslices', '0', signal)[Symbol.asyncIterator]();
    expect((await watch.next()).value).toEqual([]);
    expect((await watch.next()).value).toHaveLength(1);
    if (how === 'ends') expect((await watch.next()).done).toBe(true);
    else await expect(watch.next()).rejects.toMatchObject({ kind: 'retry' });
  });
});
