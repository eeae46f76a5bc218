import type { Fact } from '@sluice/messages';
import type { EndpointSlice, Mutation, MutationGroup } from '@sluice/model';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AdaptiveBatching, type BatchState, nextBatch, sliceBytes, watchBytes } from './adaptive-batch.ts';
import { defaultSettings, type Settings } from './settings.ts';
import { given, startTime } from './testing/given.ts';
import { aChange, aSnapshot, fact } from './testing/messages.ts';
import { aService, someEndpoints } from './testing/objects.ts';

const batching: AdaptiveBatching = { freshnessTargetMs: 500, watchers: 1_000 };

/** An update of one slice with so many endpoints. */
function updateOf(endpoints: number): readonly MutationGroup[] {
  const object: EndpointSlice = {
    metadata: { name: 'web-x7k2p', namespace: 'shop' },
    addressType: 'IPv4',
    endpoints: Array.from({ length: endpoints }, (_, i) => ({
      ...{ addresses: [`10.0.0.${i % 256}`], nodeName: `node-${i}`, zone: 'zone-a' },
      targetRef: { kind: 'Pod', namespace: 'shop', name: `web-${i}` },
    })),
  };
  return [{ mutations: [{ verb: 'update', resource: 'endpointslices', object }] }];
}

const planAt = (decidedAt: number, endpoints: number, changes: number) => ({
  ...{ groups: updateOf(endpoints), decidedAt },
  causes: { first: [], more: changes },
});

/** The batch after some plans, one each `everyMs`, with `changes` changes each. */
function after(
  plans: number,
  everyMs: number,
  endpoints: number,
  changes: number,
  options = batching,
  slices = 1,
): BatchState {
  let batch: BatchState | undefined;
  for (let n = 0; n < plans; n++)
    batch = nextBatch(batch, planAt(n * everyMs, endpoints, changes), n * everyMs + 5, slices, options);
  if (batch === undefined) throw new Error('no plan');
  return batch;
}

const periodOf = ({ until, appliedAt }: BatchState) => until - appliedAt;

describe('the batch period', () => {
  test('is 0 for the first plan, and for a Service that seldom changes', () => {
    expect(periodOf(after(1, 0, 100, 1))).toBe(0);
    expect(periodOf(after(10, 10_000, 100, 1))).toBe(0);
  });

  test('grows with the size of the writes and with the number of watchers', () => {
    const few = { ...batching, watchers: 10 };
    expect(periodOf(after(20, 10, 100, 5, few))).toBeLessThan(periodOf(after(20, 10, 100, 5)));
    expect(periodOf(after(20, 10, 10, 5, few))).toBeLessThan(periodOf(after(20, 10, 100, 5, few)));
  });

  test('is 0 while fewer changes are expected in it than the Service has slices', () => {
    expect(periodOf(after(20, 10, 100, 1, batching, 60))).toBe(0);
    expect(periodOf(after(20, 10, 100, 2, batching, 60))).toBeGreaterThan(0);
  });

  test('leaves time for the writes within the freshness target, and is 0 if there is none', () => {
    const busy = after(20, 10, 100, 5);
    expect(periodOf(busy)).toBe(450 - 2 * busy.writeMs);
    const slow = nextBatch(busy, planAt(1_000, 100, 50), 1_300, 1, batching);
    expect(slow).toMatchObject({ maxWaitMs: 0, until: 1_300 });
  });

  test('grows again after a slow write, slowly: the next writes may be slow too', () => {
    let batch = nextBatch(after(20, 10, 100, 5), planAt(1_000, 100, 5), 1_200, 1, batching);
    const expected = [batch.writeMs];
    for (let n = 1; n <= 3; n++) {
      batch = nextBatch(batch, planAt(1_200 + 10 * n, 100, 5), 1_205 + 10 * n, 1, batching);
      expected.push(batch.writeMs);
    }
    expect(expected.map(Math.round)).toEqual([200, 190, 181, 171]);
  });
});

const service: Fact = { kind: 'service', service: aService() };
const settings = {
  ...defaultSettings,
  controllers: new Set(['endpointslice'] as const),
  batching: { freshnessTargetMs: 500, watchers: 1_000_000 },
};

/** A Service with a change every 10 ms; each plan is applied 4 ms after its decision. */
function churning(options: Settings = settings) {
  let history = given(aSnapshot(1, [service, fact.pod('p')], { endpoints: '0', endpointslices: '0' }), {
    settings: options,
  });
  let at = startTime;
  let n = 2;
  for (; n < 40; n++) {
    const decided = history.when(at);
    history = decided.applied(at + 4);
    at += 10;
    history = history.and(aChange(n, [fact.pod(`p${n}`)]), at);
  }
  return { history, at, n };
}

describe('a busy Service', () => {
  test('is due when its batch ends, but a change waits no longer than the freshness target allows', () => {
    const { history, at } = churning();
    const dueAt = history.state.controller('endpointslice').timers.dueAt ?? 0;
    expect(dueAt).toBeGreaterThan(0);
    history.thenDueAt(Math.min(history.state.controller('endpointslice').timers.batch?.until ?? 0, dueAt + 442));
    history.when(at).thenNothing();
    history.when(at + 500).thenPlans({ endpointslice: ['update'] });
  });

  test('is written at once without a freshness target', () => {
    const { history, at } = churning({ ...settings, batching: null });
    expect(history.state.controller('endpointslice').timers.batch).toBeUndefined();
    history.when(at).thenPlans({ endpointslice: ['update'] });
  });

  test('after a pause, is written at once', () => {
    const { history, at, n } = churning();
    const idle = history.when(at + 600).applied(at + 604);
    idle.and(aChange(n, [fact.pod(`p${n}`)]), at + 60_000).thenDueAt(at + 60_000);
  });

  test('is never due later than the target minus the time of a write after its first change, whatever happened', () => {
    const plans = fc.array(
      fc.record({
        gap: fc.nat(2_000),
        took: fc.nat(400),
        changes: fc.integer({ min: 1, max: 500 }),
        size: fc.nat(100),
      }),
      { minLength: 1, maxLength: 30 },
    );
    fc.assert(
      fc.property(plans, fc.integer({ min: 100, max: 2_000 }), (steps, freshnessTargetMs) => {
        let batch: BatchState | undefined;
        let now = 0;
        for (const { gap, took, changes, size } of steps) {
          now += gap + took;
          batch = nextBatch(batch, planAt(now - took, size, changes), now, 1, { freshnessTargetMs, watchers: 5_000 });
          expect(batch.until - now).toBeLessThanOrEqual(Math.max(0, freshnessTargetMs - 2 * took));
          expect(batch.maxWaitMs).toBeLessThanOrEqual(Math.max(0, freshnessTargetMs - 2 * took));
        }
      }),
    );
  });
});

test('watch bytes count the writes of slices', () => {
  const [hundred, one] = [watchBytes(updateOf(100)), watchBytes(updateOf(1))];
  expect(hundred).toBeGreaterThan(5 * one);
  const deletion: MutationGroup = { mutations: [{ verb: 'delete', resource: 'endpoints', name: 'web' }] };
  expect(watchBytes([deletion])).toBe(0);
});

const sliceOf = (addresses: readonly string[]): EndpointSlice => ({
  metadata: { name: 'web-x7k2p', namespace: 'shop' },
  addressType: 'IPv4',
  endpoints: addresses.map((address) => ({
    ...{ addresses: [address], nodeName: 'node-a', zone: 'zone-a', hostname: 'web' },
    targetRef: { kind: 'Pod', namespace: 'shop', name: 'web-0' },
  })),
});

test.each([0, 1, 7, 8, 9, 100, 1000])('a slice with %d similar endpoints has the bytes of all of them', (count) => {
  const perEndpoint = 85 + 'node-a'.length + 'zone-a'.length + 'web'.length + 'shop'.length + 'web-0'.length + 8;
  expect(sliceBytes(sliceOf(Array(count).fill('10.0.0.1')))).toBe(900 + 6 * 'web-x7k2p'.length + count * perEndpoint);
});

test('endpoints of different sizes are measured all over the slice', () => {
  const [short, long] = ['10.0.0.1', '255.255.255.255'];
  const mixed = sliceBytes(sliceOf([...Array(50).fill(short), ...Array(50).fill(long)]));
  const [low, high] = [short, long].map((address) => sliceBytes(sliceOf(Array(100).fill(address)))) as [number, number];
  expect(Math.abs(mixed - (low + high) / 2)).toBeLessThan((high - low) / 8);
});

test('an endpoint has the bytes of what it has', () => {
  const bytes = (endpoint: NonNullable<EndpointSlice['endpoints']>[number]) =>
    sliceBytes({ ...sliceOf([]), endpoints: [endpoint] }) - sliceBytes(sliceOf([]));
  expect(bytes({ addresses: [] })).toBe(85);
  expect(bytes({ addresses: ['10.0.0.1', '10.0.0.2'], targetRef: {} })).toBe(85 + 16);
  expect(sliceBytes({ ...sliceOf([]), endpoints: null })).toBe(sliceBytes(sliceOf([])));
});

test('a watcher of slices receives what a plan writes, and of a deleted slice little', () => {
  const object = sliceOf(['10.0.0.1', '10.0.0.2']);
  const create: Mutation = { verb: 'create', resource: 'endpointslices', object };
  const update: Mutation = { verb: 'update', resource: 'endpointslices', object };
  const remove: Mutation = { verb: 'delete', resource: 'endpointslices', name: 's' };
  const endpoints: Mutation = { verb: 'create', resource: 'endpoints', object: someEndpoints() };
  const bytes = (...mutations: Mutation[]) => watchBytes([{ mutations }]);
  expect(bytes()).toBe(0);
  expect(bytes(create)).toBe(sliceBytes(object));
  expect(bytes(remove, endpoints)).toBe(900);
  expect(bytes(create, update, remove)).toBe(2 * sliceBytes(object) + 900);
  expect(watchBytes([{ mutations: [remove] }, { mutations: [remove] }])).toBe(1800);
});
