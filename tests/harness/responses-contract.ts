import { MemoryBus, type PartitionReader, streamStart } from '@sluice/bus';
import { anonymousAccess, Connection, HttpCluster } from '@sluice/kubernetes';
import { decodeMessage, encodeMessage, formatServiceKey, type Outcome, type PlannedMutations } from '@sluice/messages';
import type { EndpointSlice, Mutation } from '@sluice/model';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { MemoryStore } from '@sluice/store';
import { AdaptiveLimit, runWriter } from '@sluice/writer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Origin, type Tampering, TamperingProxy } from './tampering-proxy.ts';

/** Longer than a busy machine stalls: a request that times out although the server responds is retried. */
const timeoutMs = 2_500;
const status = (code: number, reason: string, details: object = {}): Tampering => ({
  how: 'answer',
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: `${reason} by test`, reason, code, details },
});
const times = (count: number, tampering: Tampering): Tampering[] => Array.from({ length: count }, () => tampering);

/** Transient failures. `executed`: the server executed the request. */
const passing: readonly (readonly [name: string, tampering: Tampering, executed: boolean])[] = [
  ['408', status(408, 'Timeout'), false],
  ['429', status(429, 'TooManyRequests'), false],
  ['500', status(500, 'InternalError'), false],
  ...[400, 403, 404, 409, 410, 422, 502].map(
    (code) =>
      [`${code} with the HTML page of a proxy`, { how: 'answer', status: code, body: '<html>' }, false] as const,
  ),
  ['503', status(503, 'ServiceUnavailable'), false],
  ['504', status(504, 'Timeout'), false],
  ['a connection that is cut before the request arrives', { how: 'cutBefore' }, false],
  ['no response to a request that did not arrive', { how: 'silentBefore' }, false],
  ['a connection that is cut before the response', { how: 'cutAfter' }, true],
  ['a connection that is cut in the middle of the response', { how: 'cutInside' }, true],
  ['no response to an executed request', { how: 'silentAfter' }, true],
  ['a response that is not JSON', { how: 'replace', body: '<html>' }, true],
  ['a truncated response', { how: 'replace', body: '{"kind":"EndpointSlice","metadata":{"na' }, true],
  ['a response without a body', { how: 'replace', body: '' }, true],
  ['a response that is not an object', { how: 'replace', body: '[]' }, true],
  ['a response without a resourceVersion', { how: 'replace', body: '{"metadata":{"name":"x"}}' }, true],
];
const final: readonly (readonly [name: string, tampering: Tampering])[] = [
  ['400', status(400, 'BadRequest')],
  ['403', status(403, 'Forbidden')],
  ['405', status(405, 'MethodNotAllowed')],
  ['413', status(413, 'RequestEntityTooLarge')],
  ['422', status(422, 'Invalid')],
];

/** Every class of response to a write, and the Outcome of the writer, with the real client over HTTP. */
export function responsesContract(name: string, start: () => Promise<Origin & { readonly stop: () => Promise<void> }>) {
  let api: Awaited<ReturnType<typeof start>>;
  let proxy: TamperingProxy;
  let connection: Connection;
  let direct: HttpCluster;
  let bus: MemoryBus;
  let outcomes: PartitionReader;
  let running: Promise<void>;
  let number = 0;
  const stop = new AbortController();
  const { signal } = new AbortController();

  beforeAll(async () => {
    api = await start();
    proxy = new TamperingProxy(api);
    const url = await proxy.listen();
    const ports = { clock: systemClock, random: seededRandom(1), logger: silentLogger };
    connection = new Connection({
      access: anonymousAccess(url, 'test'),
      userAgent: 'sluice/test',
      timeoutMs,
      ...ports,
    });
    direct = new HttpCluster({ connection, ...ports });
    bus = new MemoryBus({ partitions: 1 });
    outcomes = bus.read('changes', 0, streamStart);
    const limit = new AdaptiveLimit({ max: 4, clock: systemClock });
    running = runWriter(
      {
        ...ports,
        bus,
        store: new MemoryStore(),
        partitions: [0],
        fencingToken: 1,
        requestSignal: signal,
        retry: { attempts: 4, backoff: { baseMs: 1, maxMs: 5 } },
        cluster: () => ({ writer: direct, limit, record: () => {} }),
      },
      stop.signal,
    );
  });

  afterAll(async () => {
    stop.abort();
    await bus?.close();
    await running;
    await connection?.destroy();
    await proxy?.close();
    await api?.stop();
  });

  /** Sends a plan of one mutation with the given responses and waits for its Outcome. */
  async function apply(mutation: Mutation, tampering: readonly Tampering[] = [], namespace = 'default') {
    const method = { create: 'POST', update: 'PUT', delete: 'DELETE' }[mutation.verb];
    number++;
    const plan: PlannedMutations = {
      kind: 'mutations',
      key: { cluster: 'c', namespace, service: 'web' },
      controller: 'endpointslice',
      plan: { epoch: 1, number },
      groups: [{ mutations: [mutation] }],
      events: [],
      incomplete: [],
      serviceUid: '',
      causes: { first: [], more: 0 },
      decidedAt: 0,
    };
    proxy.requests.length = 0;
    proxy.tamper(method, ...tampering);
    const key = formatServiceKey(plan.key);
    await bus.append('mutations', 0, [{ key, id: `${number}`, headers: {}, payload: encodeMessage(plan) }]);
    const [record] = await outcomes.next(1);
    if (record === undefined) throw new Error('no Outcome');
    const outcome = decodeMessage(record.payload) as Outcome;
    const sent = proxy.requests.filter(({ what }) => what.startsWith(method));
    proxy.tamper(method);
    return { outcome, result: outcome.results[0], sent };
  }

  const slice = (name: string, given: Partial<EndpointSlice> = {}, metadata: object = {}): EndpointSlice => ({
    metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' }, ...metadata },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true, serving: true, terminating: false } }],
    ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
    ...given,
  });
  const changed = {
    endpoints: [{ addresses: ['10.1.0.2'], conditions: { ready: false, serving: false, terminating: false } }],
  };
  const updatedContent = { endpoints: [{ addresses: ['10.1.0.2'] }] };
  const create = (name: string, given?: Partial<EndpointSlice>): Mutation => ({
    verb: 'create',
    resource: 'endpointslices',
    object: slice(name, given),
  });
  const update = (name: string, resourceVersion: string): Mutation => ({
    verb: 'update',
    resource: 'endpointslices',
    object: slice(name, changed, { resourceVersion }),
  });
  const remove = (name: string, of: { uid?: string; resourceVersion?: string }): Mutation => ({
    verb: 'delete',
    resource: 'endpointslices',
    name,
    ...of,
  });
  let names = 0;
  const fresh = () => `slice-${++names}`;
  const existing = (name: string, given?: Partial<EndpointSlice>) =>
    direct.create('endpointslices', slice(name, given), signal);
  const stored = async (name: string): Promise<EndpointSlice | undefined> => {
    const found = await direct.get('endpointslices', 'default', name, signal).catch(() => undefined);
    return found as EndpointSlice | undefined;
  };

  describe(`responses to writes: ${name}`, () => {
    test('2xx: applied, with the stored object', async () => {
      const of = fresh();
      const created = await apply(create(of));
      expect(created.outcome).toMatchObject({ status: 'applied', retries: 0 });
      const version = created.result?.stored?.resourceVersion ?? '';
      expect(version).not.toBe('');
      const updated = await apply(update(of, version));
      expect(updated.outcome).toMatchObject({ status: 'applied', retries: 0 });
      expect(updated.result?.stored).toMatchObject({ uid: created.result?.stored?.uid, generation: 2 });
      expect(await stored(of)).toMatchObject(updatedContent);
      const { uid = '', resourceVersion = '' } = updated.result?.stored ?? {};
      const removed = await apply(remove(of, { uid, resourceVersion }));
      expect(removed.outcome).toMatchObject({ status: 'applied', retries: 0 });
      expect(await stored(of)).toBeUndefined();
    });

    describe.each(passing)('%s is retried', (_, tampering, executed) => {
      test('a create is stored once and applied', async () => {
        const of = fresh();
        const { outcome, sent } = await apply(create(of), [tampering]);
        expect(outcome).toMatchObject({ status: 'applied', retries: 1 });
        expect(sent).toHaveLength(2);
        expect((await stored(of))?.endpoints).toHaveLength(1);
      });

      test(`an update ${executed ? 'conflicts with its own first attempt and returns the stored object' : 'is applied'}`, async () => {
        const of = fresh();
        const before = await existing(of);
        const { outcome, result, sent } = await apply(update(of, before.resourceVersion), [tampering]);
        expect(sent).toHaveLength(2);
        expect(await stored(of)).toMatchObject(updatedContent);
        if (!executed) return expect(outcome).toMatchObject({ status: 'applied', retries: 1 });
        expect(outcome).toMatchObject({ status: 'conflict', retries: 1 });
        expect(result?.current).toMatchObject({ metadata: { uid: before.uid }, ...updatedContent });
        expect(result?.current?.metadata.resourceVersion).not.toBe(before.resourceVersion);
      });

      test('a delete is applied', async () => {
        const of = fresh();
        const { uid } = await existing(of);
        const { outcome, sent } = await apply(remove(of, { uid }), [tampering]);
        expect(outcome.status).toBe('applied');
        expect(sent).toHaveLength(2);
        expect(await stored(of)).toBeUndefined();
      });
    });

    test('gives up after four attempts and leaves the decision to the reconciler', async () => {
      const of = fresh();
      const { outcome, sent } = await apply(create(of), times(9, status(503, 'ServiceUnavailable')));
      expect(outcome).toMatchObject({ status: 'unavailable', retries: 3, message: 'ServiceUnavailable by test' });
      expect(sent).toHaveLength(4);
      expect(await stored(of)).toBeUndefined();
    });

    test.each([
      ['the header', { headers: { 'retry-after': '1' } }, {}],
      ['the Status', {}, { retryAfterSeconds: 1 }],
    ])('honours Retry-After in %s, also for other plans', async (_, headers, details) => {
      const refusal = { ...status(429, 'TooManyRequests', details), ...headers } as Tampering;
      const [first, second] = [fresh(), fresh()];
      const { outcome, sent } = await apply(create(first), [refusal]);
      expect(outcome).toMatchObject({ status: 'applied', retries: 1 });
      expect((sent[1]?.at ?? 0) - (sent[0]?.at ?? 0)).toBeGreaterThanOrEqual(990);
      expect((await apply(create(second))).outcome.status).toBe('applied');
    });

    test.each(final)('%s: rejected without retry, with the message of the API server', async (_, tampering) => {
      const of = fresh();
      const { outcome, sent } = await apply(create(of), [tampering]);
      expect(outcome).toMatchObject({ status: 'rejected', retries: 0 });
      expect(outcome.message).toMatch(/by test/);
      expect(sent).toHaveLength(1);
      const before = await existing(of);
      expect((await apply(update(of, before.resourceVersion), [tampering])).outcome.status).toBe('rejected');
      expect((await apply(remove(of, { uid: before.uid }), [tampering])).outcome.status).toBe('rejected');
      expect(await stored(of)).toBeDefined();
    });

    test('401: retried with a renewed credential, then rejected', async () => {
      const unauthorized = status(401, 'Unauthorized');
      const [first, second] = [fresh(), fresh()];
      expect((await apply(create(first), [unauthorized])).outcome).toMatchObject({ status: 'applied', retries: 0 });
      const { outcome, sent } = await apply(create(second), times(9, unauthorized));
      expect(outcome).toMatchObject({ status: 'rejected', retries: 0, message: 'Unauthorized by test' });
      expect(sent.length).toBeLessThanOrEqual(2);
    });

    test('422 of the server itself: rejected with its message', async () => {
      const invalid = { ports: [{ name: 'Not A Name', port: 80, protocol: 'TCP' as const }] };
      const { outcome, sent } = await apply(create(fresh(), invalid));
      expect(outcome).toMatchObject({ status: 'rejected', retries: 0, message: expect.stringContaining('invalid') });
      expect(sent).toHaveLength(1);
    });

    test('AlreadyExists with equal content: applied by an earlier attempt', async () => {
      const of = fresh();
      const before = await existing(of);
      const { outcome, result } = await apply(create(of));
      expect(outcome.status).toBe('applied');
      expect(result?.stored).toMatchObject({ uid: before.uid, resourceVersion: before.resourceVersion });
    });

    test('AlreadyExists with other content: a conflict that returns the stored object', async () => {
      const of = fresh();
      await existing(of, changed);
      const { outcome, result } = await apply(create(of));
      expect(outcome.status).toBe('conflict');
      expect(result?.current).toMatchObject(updatedContent);
    });

    test('409 of an update: overwrites nothing and returns the stored object', async () => {
      const of = fresh();
      const { resourceVersion } = await existing(of);
      await apply({
        ...update(of, resourceVersion),
        object: slice(of, { ports: [] }, { resourceVersion }),
      } as Mutation);
      const { outcome, result, sent } = await apply(update(of, resourceVersion));
      expect(outcome).toMatchObject({ status: 'conflict', retries: 0 });
      expect(sent).toHaveLength(1);
      expect(result?.current).toMatchObject({ endpoints: [{ addresses: ['10.1.0.1'] }] });
    });

    test('409 of a delete: keeps the other object of that name', async () => {
      const of = fresh();
      await existing(of);
      const { outcome, result } = await apply(remove(of, { uid: '00000000-0000-0000-0000-000000000000' }));
      expect(outcome.status).toBe('conflict');
      expect(result?.current).toMatchObject({ metadata: { name: of } });
      expect(await stored(of)).toBeDefined();
    });

    test('404 of an update: a conflict without object; 404 of a delete: applied', async () => {
      const of = fresh();
      const updated = await apply(update(of, '1'));
      expect(updated.outcome.status).toBe('conflict');
      expect(updated.result?.current).toBeNull();
      const removed = await apply(remove(of, { uid: '00000000-0000-0000-0000-000000000000' }));
      expect(removed.outcome.status).toBe('applied');
    });

    test('a terminating namespace: completed', async () => {
      const namespace = `going-${fresh()}`;
      const path = '/api/v1/namespaces';
      await connection.request({
        method: 'POST',
        path,
        body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
        signal,
      });
      await connection.request({ method: 'DELETE', path: `${path}/${namespace}`, signal });
      const mutation: Mutation = {
        verb: 'create',
        resource: 'endpointslices',
        object: slice(fresh(), {}, { namespace }),
      };
      const { outcome, sent } = await apply(mutation, [], namespace);
      expect(outcome).toMatchObject({ status: 'namespaceTerminating', retries: 0 });
      expect(sent).toHaveLength(1);
    });

    test('406 of a server that does not support PartialObjectMetadata: requests the full object', async () => {
      const { outcome, sent } = await apply(create(fresh()), [status(406, 'NotAcceptable')]);
      expect(outcome).toMatchObject({ status: 'applied', retries: 0 });
      expect(sent).toHaveLength(2);
    });
  });
}
