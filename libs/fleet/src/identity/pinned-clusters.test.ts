import { describe, expect, test } from 'vitest';
import {
  accept,
  admit,
  type ClusterEvidence,
  noPinnedClusters,
  type PinnedClusters,
  parsePinnedClusters,
  release,
} from './pinned-clusters.ts';

const evidence = (identity: string, server: string, ...authorities: string[]): ClusterEvidence => ({
  ...{ identity, server, authorities },
});
const prod = evidence('uid-1', 'https://prod', 'ca-1');
const clone = evidence('uid-1', 'https://staging', 'ca-2');

/** Contacts in order. Returns the resulting document and the refusals. */
function contact(...contacts: readonly (readonly [name: string, evidence: ClusterEvidence])[]) {
  let clusters: PinnedClusters = noPinnedClusters;
  const refusals: (string | undefined)[] = [];
  for (const [name, found] of contacts) {
    const admission = admit(clusters, name, found);
    clusters = parsePinnedClusters(JSON.stringify(admission.clusters));
    refusals.push(admission.refusal);
  }
  return { clusters, refusals, refused: refusals.map((refusal) => refusal !== undefined) };
}

describe('one name', () => {
  test('is pinned at its first contact and recognised from then on', () => {
    expect(contact(['prod', prod], ['prod', prod]).refused).toEqual([false, false]);
  });

  test('may rotate its authority, then move its server, but not do both at once', () => {
    const rotated = evidence('uid-1', 'https://prod', 'ca-2');
    const moved = evidence('uid-1', 'https://new', 'ca-2');
    expect(contact(['prod', prod], ['prod', rotated], ['prod', moved]).refused).toEqual([false, false, false]);
    expect(contact(['prod', prod], ['prod', moved]).refused).toEqual([false, true]);
  });

  test('does not accept the previous authority at a new address after a rotation', () => {
    const rotated = evidence('uid-1', 'https://prod', 'ca-2');
    const stolen = evidence('uid-1', 'https://evil', 'ca-1');
    expect(contact(['prod', prod], ['prod', rotated], ['prod', stolen]).refused).toEqual([false, false, true]);
  });

  test('with another identity is refused, and so is the pinned cluster, until one is accepted', () => {
    const other = evidence('uid-2', 'https://prod', 'ca-1');
    const { clusters, refused, refusals } = contact(['prod', prod], ['prod', other], ['prod', prod]);
    expect(refused).toEqual([false, true, true]);
    expect(refusals[1]).toContain('prod is pinned to uid-1');
    const recreated = accept(clusters, 'prod', other);
    expect(admit(recreated, 'prod', other).refusal).toBeUndefined();
    expect(admit(recreated, 'prod', prod).refusal).toContain('prod is pinned to uid-2');
    const kept = accept(clusters, 'prod', prod);
    expect(admit(kept, 'prod', prod).refusal).toBeUndefined();
    expect(admit(kept, 'prod', other).refusal).toContain('refused');
    expect(admit(admit(kept, 'prod', other).clusters, 'prod', prod).refusal).toBeUndefined();
  });
});

describe('two names with one identity', () => {
  test('at one address with one authority are one cluster', () => {
    expect(contact(['prod', prod], ['production', prod]).refused).toEqual([false, false]);
  });

  test.each([
    ['another authority', evidence('uid-1', 'https://prod', 'ca-2')],
    ['another address', evidence('uid-1', 'https://staging', 'ca-1')],
    ['another address without an authority', evidence('uid-1', 'http://staging')],
    ['both', clone],
  ])('with %s are both refused', (_, found) => {
    expect(contact(['prod', prod], ['staging', found], ['prod', prod]).refused).toEqual([false, true, true]);
  });

  test('are decided for good by accepting one of them', () => {
    const { clusters } = contact(['prod', prod], ['staging', clone]);
    for (const [winner, won, loser, lost] of [
      ['prod', prod, 'staging', clone],
      ['staging', clone, 'prod', prod],
    ] as const) {
      const decided = accept(clusters, winner, won);
      const again = admit(decided, loser, lost);
      expect(again.refusal).toContain('refused');
      expect(admit(again.clusters, winner, won).refusal).toBeUndefined();
    }
  });

  test('affect no other cluster', () => {
    const other = evidence('uid-2', 'https://other', 'ca-3');
    expect(contact(['prod', prod], ['staging', clone], ['other', other]).refused).toEqual([false, true, false]);
  });

  test('do not affect the pinned cluster if the claiming name is pinned to another identity', () => {
    const hostile = evidence('uid-2', 'https://hostile', 'ca-3');
    const impostor = evidence('uid-1', 'https://hostile', 'ca-3');
    const { refused } = contact(['prod', prod], ['hostile', hostile], ['hostile', impostor], ['prod', prod]);
    expect(refused).toEqual([false, false, true, false]);
  });

  test('are free again once the claiming name is released', () => {
    const { clusters } = contact(['prod', prod], ['staging', clone]);
    expect(admit(release(clusters, 'staging'), 'prod', prod).refusal).toBeUndefined();
  });
});

test('a released name can be pinned to another identity', () => {
  const { clusters } = contact(['prod', prod]);
  expect(admit(release(clusters, 'prod'), 'prod', evidence('uid-2', 'https://new', 'ca-9')).refusal).toBeUndefined();
});

test('verifying a served cluster changes no pin, so that processes with different authorities do not alternate', () => {
  const { clusters } = contact(['prod', prod], ['prod', evidence('uid-1', 'https://prod', 'ca-2')]);
  expect(admit(clusters, 'prod', prod, { refresh: false })).toEqual({ clusters });
});

test('a document of a newer version is not guessed at', () => {
  expect(() => parsePinnedClusters('{"version":2}')).toThrow('unknown format');
});
