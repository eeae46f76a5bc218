import { describe, expect, it } from 'vitest';
import { FlipTracker } from './flip-tracker.ts';

describe('FlipTracker', () => {
  it('measures from the response to the first event that shows the new readiness', () => {
    const tracker = new FlipTracker();
    tracker.sent('a', false);
    expect(tracker.acknowledged('a', false, 100)).toBe(false);
    expect(tracker.shown('a', true, 101)).toBe(false);
    expect(tracker.shown('a', false, 107.5)).toBe(true);
    expect(tracker.shown('a', false, 120)).toBe(false);
    expect(tracker.results()).toEqual({ latencies: [7.5], superseded: 0, missing: 0 });
  });

  it('reports zero latency for an event before the response', () => {
    const tracker = new FlipTracker();
    tracker.sent('a', false);
    expect(tracker.shown('a', false, 99)).toBe(false);
    expect(tracker.acknowledged('a', false, 100)).toBe(true);
    expect(tracker.results().latencies).toEqual([0]);
  });

  it('keeps the first of several events when the response is late', () => {
    const tracker = new FlipTracker();
    tracker.sent('a', false);
    tracker.shown('a', false, 90);
    tracker.shown('a', false, 400);
    tracker.acknowledged('a', false, 80);
    expect(tracker.results().latencies).toEqual([10]);
  });

  it('counts flips without an event and ignores Pods without a flip', () => {
    const tracker = new FlipTracker();
    tracker.sent('a', false);
    tracker.acknowledged('a', false, 1);
    tracker.shown('b', false, 2);
    expect(tracker.pending).toBe(1);
    expect(tracker.results()).toEqual({ latencies: [], superseded: 0, missing: 1 });
  });

  it('lets a later flip of a Pod supersede the earlier one, including late responses and events', () => {
    const tracker = new FlipTracker();
    tracker.sent('a', false);
    tracker.sent('a', true);
    tracker.acknowledged('a', false, 5);
    tracker.shown('a', false, 6);
    tracker.acknowledged('a', true, 10);
    tracker.shown('a', true, 30);
    expect(tracker.results()).toEqual({ latencies: [20], superseded: 1, missing: 0 });
  });

  it('expects no event for two flips that cancel out', () => {
    const tracker = new FlipTracker();
    tracker.sent('a', false);
    tracker.sent('a', true);
    tracker.acknowledged('a', true, 10);
    expect(tracker.pending).toBe(0);
    expect(tracker.results()).toEqual({ latencies: [], superseded: 2, missing: 0 });
    tracker.sent('a', false);
    expect(tracker.pending).toBe(1);
  });

  it('tracks many Pods at once', () => {
    const tracker = new FlipTracker();
    for (const pod of ['a', 'b', 'c']) tracker.sent(pod, false);
    for (const [index, pod] of ['c', 'a', 'b'].entries()) tracker.acknowledged(pod, false, index);
    for (const pod of ['b', 'c']) tracker.shown(pod, false, 10);
    expect(tracker.results()).toEqual({ latencies: [8, 10], superseded: 0, missing: 1 });
  });
});
