import type { Fact, Message } from '@sluice/messages';
import { VirtualClock } from '@sluice/platform';
import { beforeEach, describe, expect, test } from 'vitest';
import { History } from '../history/history.ts';
import { anOutcome, aPlan, pod, service, sliceFact, sliceOf, snapshot, toAppend, topicOf } from '../testing/records.ts';
import { ThreadBudget } from '../thread-budget.ts';
import type { CompletedEntry } from './entry-schemas.ts';
import { ServiceIndex, type ServiceQuery } from './service-index.ts';

const clock = new VirtualClock(0);
let history: History;
let index: ServiceIndex;
let names: Record<string, string>;

beforeEach(() => {
  history = new History({ clock, retentionMs: 1_000_000 });
  names = { c1: 'west', c2: 'east' };
  const nameOf = (cluster: string) => names[cluster] ?? cluster;
  index = new ServiceIndex({ history, nameOf, budget: new ThreadBudget(clock, 1), now: () => clock.now() });
});

function add(cluster: string, namespace: string, name: string, message: Message): void {
  const key = { cluster, namespace, service: name };
  history.add(topicOf(message), 0, {
    ...toAppend({ ...message, key } as Message),
    key: `${cluster}/${namespace}/${name}`,
  });
}

/** A slice with this many endpoints, of which some are ready. */
function slice(ready: number, endpoints: number): Fact {
  const object = sliceOf('web-1', { version: '9', ready: true });
  return sliceFact({
    ...object,
    endpoints: Array.from({ length: endpoints }, (_, i) => ({
      addresses: [`10.0.0.${i}`],
      conditions: { ready: i < ready },
    })),
  });
}

/** A write that completed at this time, this long after its cause. */
function write(cluster: string, namespace: string, name: string, at: number, latencyMs: number): void {
  const object = sliceOf('web-1', { version: '9', ready: true });
  add(cluster, namespace, name, aPlan(1, at - 1, [{ verb: 'update', object }]));
  add(cluster, namespace, name, anOutcome(1, at, at - latencyMs, [{ verb: 'update', version: '12' }]));
}

const known = (cluster: string, namespace: string, name: string, ...facts: Fact[]) =>
  add(cluster, namespace, name, snapshot(1, 1_000, [service({ name }), ...facts]));

const list = async (query: Partial<ServiceQuery> = {}) => {
  const found = await index.list({ sort: 'name', offset: 0, limit: 100, ...query }, history);
  return {
    ...found,
    names: found.items.map(({ clusterName, namespace, name }) => `${clusterName}/${namespace}/${name}`),
  };
};

describe('the list of Services', () => {
  beforeEach(() => {
    known('c1', 'shop', 'web', slice(0, 0), pod('web-1', {}));
    known('c1', 'shop', 'cart', slice(1, 3));
    known('c1', 'pay', 'web', slice(1, 1));
    known('c2', 'shop', 'web', slice(0, 2));
    add('c1', 'shop', 'old', snapshot(1, 1_000, []));
  });

  test('is in the order of cluster, namespace and name, without deleted ones', async () => {
    const all = await list();
    expect(all.names).toEqual(['east/shop/web', 'west/pay/web', 'west/shop/cart', 'west/shop/web']);
    expect(all).toMatchObject({ total: 4, counts: { ok: 1, degraded: 1, empty: 2, deleted: 1 } });
  });

  test('with problems first', async () => {
    const { names } = await list({ sort: 'problem' });
    expect(names).toEqual(['east/shop/web', 'west/shop/web', 'west/shop/cart', 'west/pay/web']);
  });

  test.each<[string, Partial<ServiceQuery>, string[]]>([
    ['the UID of a cluster', { cluster: 'c2' }, ['east/shop/web']],
    ['the name of a cluster', { cluster: 'east' }, ['east/shop/web']],
    ['a namespace', { namespace: 'pay' }, ['west/pay/web']],
    ['a part of the name', { q: 'car' }, ['west/shop/cart']],
    ['the end of the namespace and the start of the name', { q: 'op/w' }, ['east/shop/web', 'west/shop/web']],
    ['a status', { status: 'empty' }, ['east/shop/web', 'west/shop/web']],
    ['the status deleted', { status: 'deleted' }, ['west/shop/old']],
    ['nothing', { namespace: 'none' }, []],
  ])('can be restricted to %s', async (_, query, expected) => {
    expect((await list(query)).names).toEqual(expected);
  });

  test('counts by status what the other conditions select', async () => {
    expect(await list({ cluster: 'west', status: 'ok' })).toMatchObject({
      total: 1,
      counts: { ok: 1, degraded: 1, empty: 1, deleted: 1 },
    });
  });

  test('is returned in pages', async () => {
    expect(await list({ offset: 1, limit: 2 })).toMatchObject({ total: 4, names: ['west/pay/web', 'west/shop/cart'] });
    expect((await list({ offset: 4 })).names).toEqual([]);
  });

  test('can be grouped by namespace in the order of their first Services, with totals', async () => {
    known('c1', 'zoo', 'ape', slice(0, 1));
    const grouped = await list({ sort: 'problem', group: 'namespace', limit: 4 });
    expect(grouped.names).toEqual(['east/shop/web', 'west/shop/web', 'west/shop/cart', 'west/zoo/ape']);
    expect(grouped).toMatchObject({
      total: 5,
      endpoints: { ready: 2, all: 7 },
      groups: [
        { namespace: 'shop', total: 3, endpoints: { ready: 1, all: 5 } },
        { namespace: 'zoo', total: 1, endpoints: { ready: 0, all: 1 } },
        { namespace: 'pay', total: 1, endpoints: { ready: 1, all: 1 } },
      ],
    });
    expect(await list()).not.toHaveProperty('groups');
  });

  test('can begin with the least ready ones', async () => {
    expect((await list({ sort: 'ready' })).names).toEqual([
      ...['east/shop/web', 'west/shop/web', 'west/shop/cart', 'west/pay/web'],
    ]);
  });

  test('can begin with the last written or with the slowest writes; those without a write are last', async () => {
    write('c1', 'shop', 'cart', 6_000, 0);
    write('c1', 'shop', 'web', 5_000, 10);
    write('c1', 'pay', 'web', 5_500, 20);
    expect((await list({ sort: 'changed' })).names).toEqual([
      ...['west/shop/cart', 'west/pay/web', 'west/shop/web', 'east/shop/web'],
    ]);
    expect((await list({ sort: 'latency' })).names).toEqual([
      ...['west/pay/web', 'west/shop/web', 'west/shop/cart', 'east/shop/web'],
    ]);
  });
});

describe('the summary of a Service', () => {
  const summary = () => {
    const [journal] = [...history.journals];
    return journal === undefined ? expect.unreachable() : index.summary(journal);
  };

  test('is computed again only after a new record or when its cluster gets another name', () => {
    known('c1', 'shop', 'web', slice(1, 2));
    const first = summary();
    expect(first).toMatchObject({ status: 'degraded', clusterName: 'west' });
    expect(summary()).toBe(first);
    add('c1', 'shop', 'web', snapshot(2, 2_000, []));
    expect(summary()).toMatchObject({ status: 'deleted' });
    names = { c1: 'north' };
    expect(summary()).toMatchObject({ clusterName: 'north' });
  });

  test('of a rolling Service becomes degraded without a new record', () => {
    let now = 0;
    const since = { ready: false, readyTransitionTime: '1970-01-01T00:00:00Z' };
    const { endpoints: ready = [], ...object } = sliceOf('web-1', { version: '9', ready: true });
    const { endpoints: unready = [] } = sliceOf('web-2', { version: '9', ready: false });
    const both = sliceFact({ ...object, endpoints: [...(ready ?? []), ...(unready ?? [])] });
    known('c1', 'shop', 'web', both, pod('web-1', {}), pod('web-2', since));
    const ports = { nameOf: (cluster: string) => cluster, budget: new ThreadBudget(clock, 1), now: () => now };
    const rolling = new ServiceIndex({ history, ...ports, degraded: { afterMs: 60_000, below: 0.5 } });
    const [journal] = [...history.journals];
    if (journal === undefined) return expect.unreachable();
    expect(rolling.summary(journal).status).toBe('rolling');
    now = 60_000;
    expect(rolling.summary(journal).status).toBe('degraded');
  });

  test('of a Service whose history expired is dropped', () => {
    known('c1', 'shop', 'web');
    const first = summary();
    index.prune();
    expect(summary()).toBe(first);
    const [journal] = [...history.journals];
    const time = new VirtualClock(0);
    history = new History({ clock: time });
    const ports = { nameOf: (cluster: string) => cluster, budget: new ThreadBudget(time, 1), now: () => time.now() };
    const other = new ServiceIndex({ history, ...ports });
    if (journal === undefined) return expect.unreachable();
    const kept = other.summary(journal);
    other.prune();
    expect(other.summary(journal)).not.toBe(kept);
  });
});

test('a write is summarised with the number of endpoints by kind of change, and its causes', () => {
  const change = (type: 'added' | 'removed' | 'changed') => ({
    ...{ type, pod: '', addresses: [], slice: 'web-a', before: null, after: null },
  });
  const entry: CompletedEntry = {
    ...{ kind: 'completed', at: 5_000, controller: 'endpointslice', plan: { epoch: 1, number: 1 }, message: '' },
    ...{ status: 'applied', retries: 0, latencyMs: 4, applyMs: 3, writes: [], traceparent: '00-a' },
    endpoints: [...['added', 'added', 'added', 'removed', 'removed', 'changed']].map((type) => change(type as 'added')),
    causes: { first: [{ description: 'Pod shop/web-1 deleted', observedAt: 4_996 }], more: 1 },
  };
  const key = { cluster: 'c1', namespace: 'shop', service: 'web' };
  const expected = {
    ...{ cluster: 'c1', clusterName: 'west', namespace: 'shop', name: 'web' },
    ...{ at: 5_000, controller: 'endpointslice', status: 'applied', latencyMs: 4, traceparent: '00-a' },
    ...{ added: 3, removed: 2, changed: 1, causes: ['Pod shop/web-1 deleted'] },
  };
  expect(index.recentChange(key, { ...entry, isApplied: true })).toEqual(expected);
  const { traceparent: _, ...untraced } = entry;
  expect(index.recentChange(key, { ...untraced, isApplied: true })).not.toHaveProperty('traceparent');
});
