import { describe, expect, it } from 'vitest';
import { aPod, aService } from '../testing/fixtures.ts';
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
});
