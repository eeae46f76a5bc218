import { describe, expect, it } from 'vitest';
import * as tracker from './endpointslice-tracker.ts';

const slice = (uid: string, generation = 1) => ({ metadata: { uid, generation } });
const tracked = tracker.update(tracker.noTrackedSlices, slice('a', 2));

describe('the EndpointSlice tracker (C19, C20)', () => {
  it('does not modify the given state', () => {
    tracker.update(tracked, slice('b'));
    tracker.expectDeletion(tracked, slice('a'));
    tracker.handleDeletion(tracked, slice('a'));
    expect(tracked).toEqual({ a: 2 });
    expect(tracker.update(tracked, slice('a', 2))).toBe(tracked);
  });

  it('tracks slices by UID and drops them with their Service', () => {
    expect(tracker.has(tracked, slice('a', 9))).toBe(true);
    expect(tracker.has(tracked, slice('b'))).toBe(false);
    expect(tracker.isEmpty(tracker.deleteService())).toBe(true);
  });

  it('requires a sync for slices that are untracked or newer than written', () => {
    expect(tracker.shouldSync(tracked, slice('b'))).toBe(true);
    expect(tracker.shouldSync(tracked, slice('a', 2))).toBe(false);
    expect(tracker.shouldSync(tracked, slice('a', 3))).toBe(true);
  });

  it.each([
    ['an untracked Service', tracker.noTrackedSlices, [slice('z')], false],
    ['the generation that was written', tracked, [slice('a', 2)], false],
    ['a newer generation', tracked, [slice('a', 3)], false],
    ['an older generation', tracked, [slice('a', 1)], true],
    ['a missing slice', tracked, [], true],
    [
      'a slice whose deletion is expected, still there',
      tracker.expectDeletion(tracked, slice('a')),
      [slice('a', 2)],
      true,
    ],
    ['a slice whose deletion is expected, gone', tracker.expectDeletion(tracked, slice('a')), [], false],
  ])('staleSlices: %s', (_, state, listed, stale) => {
    expect(tracker.staleSlices(state, listed)).toBe(stale);
  });

  it('distinguishes expected deletions from others', () => {
    expect(tracker.handleDeletion(tracked, slice('a')).expected).toBe(false);
    expect(tracker.handleDeletion(tracked, slice('b'))).toEqual({ state: tracked, expected: true });
    const { state, expected } = tracker.handleDeletion(tracker.expectDeletion(tracked, slice('a')), slice('a'));
    expect(expected).toBe(true);
    expect(state).toEqual({});
  });
});
