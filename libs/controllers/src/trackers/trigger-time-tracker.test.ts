import { aPod, aService } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { computeTriggerTime, type TriggerTimes } from './trigger-time-tracker.ts';

const service = aService({ creationTimestamp: '2024-01-01T00:00:00Z' });
const pod = (i: number, time: string | null) => ({ pod: aPod(i, { readyTransitionTime: time }) });
const at = (minute: number) => `2024-01-01T00:0${minute}:00Z`;

function known(times: Readonly<Record<string, string>>): TriggerTimes {
  return { service: service.creationTimestamp, pods: times };
}

describe('computeTriggerTime (C15, C16)', () => {
  it('returns the creation time of a Service without state, whatever its Pods', () => {
    const { state, triggerTime } = computeTriggerTime(null, service, [pod(1, at(5)), pod(2, null)]);
    expect(triggerTime).toBe(service.creationTimestamp);
    expect(state).toEqual(known({ 'web-1': at(5) }));
  });

  it('returns the earliest time later than the known one', () => {
    const before = known({ 'web-1': at(1), 'web-2': at(2) });
    const now = [pod(1, at(4)), pod(2, at(2)), pod(3, at(3))];
    expect(computeTriggerTime(before, service, now).triggerTime).toBe(at(3));
  });

  it('returns null and drops Pods that were removed', () => {
    const { state, triggerTime } = computeTriggerTime(known({ 'web-1': at(1), 'web-2': at(2) }), service, [
      pod(2, at(2)),
    ]);
    expect(triggerTime).toBeNull();
    expect(state).toEqual(known({ 'web-2': at(2) }));
  });

  it('keeps an earlier time without reporting it', () => {
    const { state, triggerTime } = computeTriggerTime(known({ 'web-1': at(3) }), service, [pod(1, at(2))]);
    expect(triggerTime).toBeNull();
    expect(state).toEqual(known({ 'web-1': at(2) }));
  });

  it('reports a recreated Service', () => {
    const again = aService({ creationTimestamp: at(7) });
    expect(computeTriggerTime(known({}), again, [pod(1, at(8))]).triggerTime).toBe(at(7));
  });

  it('returns the same state if nothing changed', () => {
    const before = known({ 'web-1': at(1) });
    expect(computeTriggerTime(before, service, [pod(1, at(1)), pod(2, null)])).toEqual({
      state: before,
      triggerTime: null,
    });
    expect(computeTriggerTime(before, service, [pod(1, at(1))]).state).toBe(before);
  });

  it('ignores a Service without creation time', () => {
    const bare = aService({ creationTimestamp: '' });
    expect(computeTriggerTime(null, bare, [pod(1, at(5))])).toEqual({
      state: { service: null, pods: { 'web-1': at(5) } },
      triggerTime: null,
    });
    expect(computeTriggerTime({ service: null, pods: {} }, service, []).triggerTime).toBe(service.creationTimestamp);
  });

  it('reports the earlier of a recreated Service and a Pod', () => {
    const again = aService({ creationTimestamp: at(7) });
    expect(computeTriggerTime(known({}), again, [pod(1, at(6))]).triggerTime).toBe(at(6));
    expect(computeTriggerTime(known({}), aService({ creationTimestamp: '2023-01-01T00:00:00Z' }), [])).toEqual({
      state: { service: '2023-01-01T00:00:00Z', pods: {} },
      triggerTime: null,
    });
  });

  it('drops the time of a Pod that has lost its Ready condition', () => {
    const { state, triggerTime } = computeTriggerTime(known({ 'web-1': at(1) }), service, [pod(1, null)]);
    expect({ state, triggerTime }).toEqual({ state: known({}), triggerTime: null });
  });
});

describe('trigger times of many Pods', () => {
  const many = Array.from({ length: 70 }, (_, i) => pod(i, at(1)));
  const times = ({ pods, since }: TriggerTimes) => ({ ...pods, ...since });

  /** Computes the times of one state of the Pods after another, and checks that remembering the last Pods changes nothing. */
  function follow(...states: readonly (typeof many)[]): TriggerTimes {
    return states.reduce(
      (before, now) => {
        const { state, triggerTime } = computeTriggerTime(before, service, now);
        const again = computeTriggerTime(structuredClone(before), service, now);
        expect({ times: times(state), triggerTime }).toEqual({
          times: times(again.state),
          triggerTime: again.triggerTime,
        });
        const given = now.flatMap(({ pod: { name, readyTransitionTime } }) =>
          readyTransitionTime === null ? [] : [[name, readyTransitionTime]],
        );
        expect(times(state)).toEqual(Object.fromEntries(given));
        return state;
      },
      computeTriggerTime(null, service, many).state,
    );
  }

  it('are overridden one by one without a copy of all', () => {
    const first = computeTriggerTime(null, service, many).state;
    const { state, triggerTime } = computeTriggerTime(first, service, many.with(3, pod(3, at(2))));
    expect(triggerTime).toBe(at(2));
    expect(state.pods).toBe(first.pods);
    expect(state.since).toEqual({ 'web-3': at(2) });
    const next = computeTriggerTime(state, service, many.with(3, pod(3, at(4))).with(5, pod(5, at(3))));
    expect(next.triggerTime).toBe(at(3));
    expect(next.state.pods).toBe(first.pods);
    expect(next.state.since).toEqual({ 'web-3': at(4), 'web-5': at(3) });
  });

  it('are copied when there are few Pods, or when most are overridden', () => {
    const few = many.slice(0, 64);
    const flipped = few.with(3, pod(3, at(2)));
    const { state } = computeTriggerTime(computeTriggerTime(null, service, few).state, service, flipped);
    expect(state).toEqual({ service: service.creationTimestamp, pods: times(state) });
    const all = follow(many.map((_, i) => pod(i, at(2))));
    expect(all.since).toBeUndefined();
    const most = follow(many.map((one, i) => (i < 64 ? pod(i, at(2)) : one)));
    expect(Object.keys(most.since ?? {})).toHaveLength(64);
  });

  it('follow added, removed and moved Pods and Pods without a time', () => {
    const flipped = many.with(3, pod(3, at(2)));
    follow(flipped, flipped.slice(1));
    follow(flipped, flipped.toSpliced(3, 1));
    follow(flipped, [...flipped, pod(90, at(3))], [...flipped, pod(90, at(4))], flipped);
    follow([...many, pod(90, at(3))], many);
    follow(flipped, flipped.toReversed());
    follow(flipped, flipped.with(3, pod(3, null)), flipped);
    follow(flipped, flipped.with(4, pod(4, null)), flipped);
  });

  it('are the same object while nothing changes', () => {
    const { state } = computeTriggerTime(null, service, many);
    expect(computeTriggerTime(state, service, [...many]).state).toBe(state);
    expect(computeTriggerTime(state, service, many.with(1, pod(1, at(1)))).state).toBe(state);
  });
});
