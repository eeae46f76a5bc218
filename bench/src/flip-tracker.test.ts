import { describe, expect, it } from 'vitest';
import { FlipTracker } from './flip-tracker.ts';

describe('the flip tracker', () => {
  it('measures from the answer to the first event that shows the new readiness', () => {
    const tracker = new FlipTracker();
    tracker.began('a', false);
    expect(tracker.answered('a', false, 100)).toBe(false);
    expect(tracker.shown('a', true, 101)).toBe(false);
    expect(tracker.shown('a', false, 107.5)).toBe(true);
    expect(tracker.shown('a', false, 120)).toBe(false);
    expect(tracker.results()).toEqual({ latencies: [7.5], superseded: 0, missing: 0 });
  });

  it('takes an event that overtakes the answer as no latency at all', () => {
    const tracker = new FlipTracker();
    tracker.began('a', false);
    expect(tracker.shown('a', false, 99)).toBe(false);
    expect(tracker.answered('a', false, 100)).toBe(true);
    expect(tracker.results().latencies).toEqual([0]);
  });

  it('keeps the first of several events when the answer is late', () => {
    const tracker = new FlipTracker();
    tracker.began('a', false);
    tracker.shown('a', false, 90);
    tracker.shown('a', false, 400);
    tracker.answered('a', false, 80);
    expect(tracker.results().latencies).toEqual([10]);
  });

  it('counts flips that nothing shows, and ignores Pods without a flip', () => {
    const tracker = new FlipTracker();
    tracker.began('a', false);
    tracker.answered('a', false, 1);
    tracker.shown('b', false, 2);
    expect(tracker.open).toBe(1);
    expect(tracker.results()).toEqual({ latencies: [], superseded: 0, missing: 1 });
  });

  it('lets a later flip of the same Pod supersede the earlier one, late answers and events of it included', () => {
    const tracker = new FlipTracker();
    tracker.began('a', false);
    tracker.began('a', true);
    tracker.answered('a', false, 5);
    tracker.shown('a', false, 6);
    tracker.answered('a', true, 10);
    tracker.shown('a', true, 30);
    expect(tracker.results()).toEqual({ latencies: [20], superseded: 1, missing: 0 });
  });

  it('waits for no event of two flips that come to nothing', () => {
    const tracker = new FlipTracker();
    tracker.began('a', false);
    tracker.began('a', true);
    tracker.answered('a', true, 10);
    expect(tracker.open).toBe(0);
    expect(tracker.results()).toEqual({ latencies: [], superseded: 2, missing: 0 });
    tracker.began('a', false);
    expect(tracker.open).toBe(1);
  });

  it('follows many Pods at once', () => {
    const tracker = new FlipTracker();
    for (const pod of ['a', 'b', 'c']) tracker.began(pod, false);
    for (const [index, pod] of ['c', 'a', 'b'].entries()) tracker.answered(pod, false, index);
    for (const pod of ['b', 'c']) tracker.shown(pod, false, 10);
    expect(tracker.results()).toEqual({ latencies: [8, 10], superseded: 0, missing: 1 });
  });
});
