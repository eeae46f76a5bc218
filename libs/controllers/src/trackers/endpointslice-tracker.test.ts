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

  const deleting = { metadata: { uid: 'a', generation: 3, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  it.each([
    ['another client wrote it', tracked, slice('a', 3), 'foreignWrite'],
    ['the cluster was restored', tracked, slice('a', 1), 'restored'],
    ['only metadata changed', tracked, slice('a', 2), undefined],
    ['a graceful deletion raised it', tracked, deleting, undefined],
    ['the slice is not tracked', tracked, slice('b', 3), undefined],
    ['the server sets no generation', tracker.update(tracked, slice('a', 0)), slice('a', 0), undefined],
    ['the last write may have been stored', tracker.expectUncertain(tracked, 'a'), slice('a', 3), undefined],
    ['a deletion is expected', tracker.expectDeletion(tracked, slice('a')), slice('a', 3), undefined],
  ])('proofOf: %s', (_, state, observed, proof) => {
    expect(tracker.proofOf(state, observed)).toBe(proof);
  });

  it('ends uncertainty with the next observed version, but not an expected deletion', () => {
    const uncertain = tracker.expectUncertain(tracked, 'a');
    expect(tracker.proofOf(tracker.observe(uncertain, slice('a', 3)), slice('a', 4))).toBe('foreignWrite');
    const expected = tracker.expectDeletion(tracked, slice('a'));
    expect(tracker.observe(expected, slice('a', 3))).toBe(expected);
    expect(tracker.expectUncertain(expected, 'a')).toBe(expected);
    expect(tracker.has(tracker.expectUncertain(tracked, 'b'), slice('b'))).toBe(true);
  });

  it.each([
    ['written', tracked, {}],
    ['to be deleted', tracker.expectDeletion(tracked, slice('a')), {}],
    ['whose write is uncertain', tracker.expectUncertain(tracked, 'a'), tracker.expectUncertain(tracked, 'a')],
  ])(
    'forgets a slice that a list does not contain, unless its write may still be stored: one %s',
    (_, state, after) => {
      expect(tracker.handleMissing(state, 'a')).toEqual(after);
      expect(tracker.handleMissing(state, 'b')).toBe(state);
    },
  );

  it('forgets uncertain writes of missing slices once a later write was stored', () => {
    const none = () => expect.unreachable('nothing is uncertain');
    expect(tracker.endUncertainty(tracked, none)).toBe(tracked);
    const state = ['b', 'c'].reduce(tracker.expectUncertain, tracked);
    expect(tracker.endUncertainty(state, () => new Set(['a', 'b', 'c']))).toEqual(state);
    expect(tracker.endUncertainty(state, () => new Set(['b']))).toEqual(tracker.expectUncertain(tracked, 'b'));
  });

  it('is never uncertain about a slice without UID, nor proves anything by a server without generations', () => {
    expect(tracker.expectUncertain(tracked, '')).toBe(tracked);
    expect(tracker.observe(tracked, slice('a', 0))).toBe(tracked);
    expect(tracker.proofOf(tracked, { metadata: { uid: 'a' } })).toBeUndefined();
  });

  it('treats a missing UID or generation as empty', () => {
    const bare = { metadata: {} };
    const state = tracker.update(tracker.noTrackedSlices, bare);
    expect(state).toEqual({ '': 0 });
    expect(tracker.shouldSync(state, bare)).toBe(false);
    expect(tracker.staleSlices(state, [bare])).toBe(false);
  });
});
