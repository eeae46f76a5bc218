import { describe, expect, test } from 'vitest';
import { anOutcome, aPlan, journalOf, pod, podChange, service, sliceOf, snapshot } from '../testing/records.ts';
import type { CompletedEntry, EndpointState, Entry } from '../view/entry-schemas.ts';
import { podHistories } from './pod-histories.ts';

type Messages = Parameters<typeof journalOf>;

const historyOf = (...messages: Messages) => podHistories(journalOf(...messages).entries, 10_000).get('web-1');

describe('deletingSince', () => {
  const first = snapshot(1, 1_000, [service(), pod('web-1', {}), pod('web-2', { terminating: true })]);
  const deleted = podChange(2, 2_000, pod('web-1', { terminating: true }));
  const unready = podChange(3, 3_000, pod('web-1', { terminating: true, ready: false }));
  const removed = podChange(4, 4_000, { kind: 'pod', name: 'web-1', uid: 'web-1-uid', node: null, pod: null } as never);
  const recreated = podChange(5, 5_000, pod('web-1', { uid: 'another' }));

  test('is when the deletion was first observed, also after the removal', () => {
    const histories = podHistories(journalOf(first, deleted, unready, removed).entries, 10_000);
    expect(histories.get('web-1')?.deletingSince).toBe(2_000);
    expect(histories.get('web-2')?.deletingSince).toBeNull();
  });

  test('ignores an earlier Pod of the same name', () => {
    const replaced = { ...recreated, stamp: { epoch: 1, sequence: 3 } };
    expect(historyOf(first, deleted, removed, recreated)?.deletingSince).toBeNull();
    expect(historyOf(first, deleted, replaced)?.deletingSince).toBeNull();
  });
});

describe('writes', () => {
  const write = (number: number, at: number, ready: boolean): Messages => {
    const verb = number === 1 ? 'create' : 'update';
    return [
      aPlan(number, at, [{ verb, object: sliceOf('web-1', { version: number === 1 ? '' : '11', ready }) }]),
      anOutcome(number, at + 10, at - 10, [{ verb, version: `${10 + number}` }]),
    ];
  };
  const ready = [snapshot(1, 1_000, [service(), pod('web-1', {})]), ...write(1, 1_010, true)];
  const expected = { causes: ['Pod shop/web-1 modified'], latencyMs: 20 };

  test('lastChange is the last write with its causes and latency', () => {
    expect(historyOf(...ready)).toMatchObject({ unready: null, lastChange: { ...expected, type: 'added', at: 1_020 } });
  });

  test('lastChange says what held a slow write', () => {
    const [first, plan, outcome] = [...ready];
    if (first === undefined || plan?.kind !== 'mutations' || outcome?.kind !== 'outcome') throw new Error('no write');
    const late = { ...outcome, decidedAt: 1_010, startedAt: 1_020, completedAt: 1_300 };
    const { causes } = outcome;
    expect(historyOf(first, { ...plan, causes }, late)?.lastChange?.spent).toEqual([
      { where: 'watcher to reconciler', ms: 10 },
      { where: 'writer queue', ms: 10 },
      { where: 'API server', ms: 280 },
    ]);
    expect(historyOf(...ready)?.lastChange).not.toHaveProperty('spent');
  });

  test('unready is the write that made the endpoint not ready, until it is ready again', () => {
    const notReady = [...ready, podChange(2, 2_000, pod('web-1', { ready: false })), ...write(2, 2_010, false)];
    expect(historyOf(...notReady)).toMatchObject({ unready: { ...expected, at: 2_020 } });
    const again = [...notReady, podChange(3, 3_000, pod('web-1', {})), ...write(3, 3_010, true)];
    expect(historyOf(...again)).toMatchObject({ unready: null, lastChange: { type: 'changed', at: 3_020 } });
  });
});

test('readinessChanges counts changes of readiness in the last minute', () => {
  const first = snapshot(1, 1_000, [service(), pod('web-1', {}), pod('web-2', {})]);
  const flips = Array.from({ length: 8 }, (_, i) =>
    podChange(i + 2, 10_000 * (i + 1), pod('web-1', { ready: i % 2 === 1 })),
  );
  const { entries } = journalOf(first, ...flips);
  expect(podHistories(entries, 80_000).get('web-1')?.readinessChanges).toBe(6);
  expect(podHistories(entries, 80_000).get('web-2')?.readinessChanges ?? 0).toBe(0);
  expect(podHistories(entries, 200_000).get('web-1')?.readinessChanges ?? 0).toBe(0);
});

describe('readiness', () => {
  const first = snapshot(1, 1_000, [service(), pod('web-1', {})]);
  const unready = { status: 'False', reason: 'ContainersNotReady', message: '' };
  const changes = (at: number) => {
    const flip = podChange(2, 10_000, pod('web-1', { ready: false, unready }));
    return podHistories(journalOf(first, flip).entries, at).get('web-1')?.readinessChanges ?? 0;
  };

  test('that changed with a reason counts, for less than a minute', () => {
    expect([changes(10_000), changes(69_999), changes(70_000)]).toEqual([1, 1, 0]);
  });

  test('does not change when something else does', () => {
    const moved = podChange(2, 10_000, pod('web-1', { nodeName: 'node-b' }));
    expect(podHistories(journalOf(first, moved).entries, 10_000).get('web-1')?.readinessChanges).toBe(0);
  });
});

describe('writes to the endpoints of a Pod', () => {
  const ready: EndpointState = { ready: true, serving: true, terminating: false, zone: '', hints: [] };
  const notReady = { ...ready, ready: false };
  const write = (
    at: number,
    pod: string,
    before: EndpointState | null,
    after: EndpointState | null,
  ): CompletedEntry => ({
    ...{ kind: 'completed', at, controller: 'endpointslice', plan: { epoch: 1, number: at }, status: 'applied' },
    ...{ message: '', retries: 0, latencyMs: 5, applyMs: 3, writes: [] },
    causes: { first: [{ description: `cause at ${at}`, observedAt: at }], more: at - 1 },
    endpoints: [{ type: 'changed', pod, addresses: [], slice: 'web-a', before, after }],
  });
  const of = (...entries: readonly Entry[]) => podHistories(entries, 10_000).get('web-1');

  test('are given with their causes and the number of those not listed', () => {
    expect(of(write(1, 'web-1', null, ready))?.lastChange).toEqual({
      ...{ at: 1, causes: ['cause at 1'], latencyMs: 5, type: 'changed' },
    });
    expect(of(write(3, 'web-1', null, ready))?.lastChange?.causes).toEqual(['cause at 3', 'and 2 more']);
  });

  test('make it not ready, or remove it; later writes do not hide when that was', () => {
    expect(of(write(1, 'web-1', ready, notReady), write(2, 'web-1', notReady, notReady))?.unready?.at).toBe(1);
    expect(of(write(1, 'web-1', ready, null))?.unready?.at).toBe(1);
    expect(of(write(1, 'web-1', null, notReady))?.unready).toBeNull();
    expect(of(write(1, 'web-1', ready, notReady), write(2, 'web-1', notReady, ready))?.unready).toBeNull();
  });

  test('are not those of other Pods or of custom endpoints', () => {
    const histories = podHistories([write(1, 'web-2', null, ready), write(2, '', null, ready)], 10_000);
    expect([...histories.keys()]).toEqual(['web-2']);
  });
});
