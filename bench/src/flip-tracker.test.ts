import { describe, expect, it } from 'vitest';
import { FlipTracker } from './flip-tracker.ts';

describe('FlipTracker', () => {
  it('measures from the response to the first version that shows the new readiness', () => {
    const tracker = new FlipTracker();
    tracker.sent('a', false);
    expect(tracker.acknowledged('a', false, 100)).toBe(false);
    expect(tracker.shown('a', true, 101)).toBe(false);
    expect(tracker.shown('a', false, 107.5)).toBe(true);
    expect(tracker.shown('a', false, 120)).toBe(false);
    expect(tracker.results()).toEqual({ latencies: [7.5], cancelled: 0, missing: 0 });
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
    expect(tracker.results()).toEqual({ latencies: [], cancelled: 0, missing: 1 });
  });

  it('measures each of two flips of a Pod by its own version', () => {
    const tracker = new FlipTracker();
    tracker.sent('a', false);
    tracker.sent('a', true);
    tracker.acknowledged('a', false, 5);
    expect(tracker.shown('a', false, 6)).toBe(false);
    tracker.acknowledged('a', true, 10);
    expect(tracker.shown('a', true, 30)).toBe(true);
    expect(tracker.results()).toEqual({ latencies: [1, 20], cancelled: 0, missing: 0 });
  });

  it('measures only the first of several flips of a Pod that a version may show', () => {
    const tracker = new FlipTracker();
    const flip = (ready: boolean, at: number) => {
      tracker.sent('a', ready);
      tracker.acknowledged('a', ready, at);
    };
    flip(false, 10);
    flip(true, 20);
    flip(false, 30);
    expect(tracker.pending).toBe(3);
    expect(tracker.shown('a', false, 70)).toBe(true);
    expect(tracker.results()).toEqual({ latencies: [60], cancelled: 2, missing: 0 });
    flip(true, 80);
    expect(tracker.shown('a', true, 90)).toBe(true);
    expect(tracker.results()).toEqual({ latencies: [60, 10], cancelled: 2, missing: 0 });
  });

  it('takes a version that shows what the one before showed for none of two flips', () => {
    const tracker = new FlipTracker();
    for (const ready of [false, true]) {
      tracker.sent('a', ready);
      tracker.acknowledged('a', ready, 10);
    }
    expect(tracker.shown('a', true, 11)).toBe(false);
    expect(tracker.results()).toEqual({ latencies: [], cancelled: 2, missing: 0 });
    tracker.shown('a', false, 15);
    expect(tracker.pending).toBe(1);
    expect(tracker.shown('a', true, 18)).toBe(true);
    expect(tracker.results()).toEqual({ latencies: [5, 8], cancelled: 0, missing: 0 });
  });

  it('expects no version for two flips that cancel out, and counts them', () => {
    const tracker = new FlipTracker();
    tracker.sent('a', false);
    tracker.sent('a', true);
    tracker.acknowledged('a', true, 10);
    expect(tracker.pending).toBe(0);
    expect(tracker.results()).toEqual({ latencies: [], cancelled: 2, missing: 0 });
    tracker.sent('a', false);
    expect(tracker.pending).toBe(3);
  });

  it('counts all flips of a Pod as missing whose last state no version shows', () => {
    const tracker = new FlipTracker();
    tracker.sent('a', true);
    tracker.acknowledged('a', true, 1);
    tracker.shown('a', false, 2);
    expect(tracker.results()).toEqual({ latencies: [], cancelled: 0, missing: 1 });
  });

  it('withdraws flips that no version can show', () => {
    const tracker = new FlipTracker();
    tracker.sent('a', false);
    tracker.withdraw('a');
    expect(tracker.waiting).toEqual([]);
    expect(tracker.results()).toEqual({ latencies: [], cancelled: 1, missing: 0 });
  });

  it('tracks many Pods at once', () => {
    const tracker = new FlipTracker();
    for (const pod of ['a', 'b', 'c']) tracker.sent(pod, false);
    for (const [index, pod] of ['c', 'a', 'b'].entries()) tracker.acknowledged(pod, false, index);
    for (const pod of ['b', 'c']) tracker.shown(pod, false, 10);
    expect(tracker.results()).toEqual({ latencies: [8, 10], cancelled: 0, missing: 1 });
  });
});
