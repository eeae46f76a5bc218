import type { Fact } from '@sluice/messages';
import type { EndpointSlice } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import { composeChanges, digestService, halves } from './compose-changes.ts';
import { addReason, type DirtyReason, emptyDirtyEntry } from './dirty-set.ts';
import { Indexer } from './indexer.ts';
import { aNode, aPod, aService, aSlice, someEndpoints } from './testing/objects.ts';

const resourceVersions = { endpoints: '7', endpointslices: '9' };
let indexer: Indexer;

beforeEach(() => {
  indexer = new Indexer();
});

function facts(...reasons: DirtyReason[]): readonly Fact[] {
  const dirty = emptyDirtyEntry({ cluster: 'c', namespace: 'shop', service: 'web' });
  for (const reason of reasons) addReason(dirty, reason, undefined);
  return composeChanges(indexer, dirty, resourceVersions).flatMap((change) => change.facts);
}

const slice = (given: { relabelled?: boolean; labelledFor?: string; manager?: string } = {}): DirtyReason => ({
  ...{ kind: 'slice', name: 's', uid: 'old', relabelled: false },
  ...given,
});

describe('a slice', () => {
  test('that exists has its own UID and the manager of its last write', () => {
    const current = aSlice('s', 'web');
    indexer.setSlice(current);
    const fact = { kind: 'slice', name: 's', slice: current, uid: 'uid-s' };
    expect(facts(slice())).toStrictEqual([fact]);
    expect(facts(slice({ manager: 'kubectl' }))).toStrictEqual([{ ...fact, manager: 'kubectl' }]);
  });

  test('that is deleted has the UID it had, and nobody is named', () => {
    expect(facts(slice({ manager: 'kubectl' }))).toStrictEqual([{ kind: 'slice', name: 's', slice: null, uid: 'old' }]);
  });

  test('that is relabelled names the Service of its label', () => {
    const fact = { kind: 'slice', name: 's', slice: null, uid: 'old', relabelled: true };
    expect(facts(slice({ relabelled: true }))).toStrictEqual([fact]);
    expect(facts(slice({ relabelled: true, labelledFor: 'db' }))).toStrictEqual([{ ...fact, labelledFor: 'db' }]);
  });

  test('and Endpoints without a UID have an empty one', () => {
    const without = <T extends { readonly metadata: EndpointSlice['metadata'] }>({ metadata, ...rest }: T) => {
      const { uid: _, ...others } = metadata;
      return { ...rest, metadata: others };
    };
    indexer.setSlice(without(aSlice('s', 'web')) as EndpointSlice);
    indexer.endpoints.set('shop/web', { ...without(someEndpoints('web')), subsets: [] });
    const uids = (given: readonly Fact[]) => given.map((fact) => ('uid' in fact ? fact.uid : undefined));
    expect(uids(facts({ kind: 'snapshot', initial: false }))).toEqual(['', '']);
    expect(uids(facts(slice()))).toEqual(['']);
  });
});

test('a changed Node is published with its Pods, which share its placement', () => {
  indexer.setService(aService('web'));
  for (const name of ['p', 'q']) indexer.setPod(aPod(name, { app: 'web' }));
  const placements = () => {
    const of = facts({ kind: 'pod', name: 'p' }, { kind: 'pod', name: 'q' });
    return of.map((fact) => (fact.kind === 'pod' ? fact.node : undefined));
  };
  indexer.setNode(aNode('n1', 'a'));
  const [first, second] = placements();
  expect([first, second]).toEqual([{ zone: 'a' }, { zone: 'a' }]);
  expect(second).toBe(first);
  indexer.setNode(aNode('n1', 'b'));
  expect(placements()).toEqual([{ zone: 'b' }, { zone: 'b' }]);
});

test('if Nodes are not watched, Pods are on Nodes in an unknown zone, unless they are not scheduled', () => {
  indexer = new Indexer(['nodes']);
  indexer.setService(aService('web'));
  const scheduled = aPod('p', { app: 'web' });
  indexer.setPod(scheduled);
  indexer.setPod({ ...aPod('q', { app: 'web' }), pod: { ...scheduled.pod, name: 'q', nodeName: '' } });
  expect(facts({ kind: 'pod', name: 'p' }, { kind: 'pod', name: 'q' })).toMatchObject([
    { name: 'p', node: { zone: '' } },
    { name: 'q', node: null },
  ]);
});

test('a Service that selects no Pod names those that match in another namespace', () => {
  indexer.setService(aService('web'));
  const elsewhere = aPod('p', { app: 'web' });
  indexer.setPod({ ...elsewhere, pod: { ...elsewhere.pod, namespace: 'other' } });
  const similarPods = { label: 'app=web', pods: 1, namespace: 'other' };
  expect(facts({ kind: 'service' })[0]).toMatchObject({ similarPods });
});

test('a Service that selects no Pod names those whose labels resemble its selector', () => {
  indexer.setService(aService('web'));
  indexer.setPod(aPod('p', { app: 'wed' }));
  expect(facts({ kind: 'service' })[0]).toMatchObject({ similarPods: { label: 'app=wed', pods: 1 } });
  indexer.setPod(aPod('q', { app: 'web' }));
  expect(facts({ kind: 'service' })[0]).not.toHaveProperty('similarPods');
});

test('a Service of which nothing is left has no digest; one with the same facts has the same', () => {
  expect(digestService(indexer, 'shop', 'web')).toBeUndefined();
  indexer.endpoints.set('shop/web', someEndpoints('web'));
  const digest = digestService(indexer, 'shop', 'web');
  expect(digest).toMatchObject({ service: '', endpoints: [{ name: 'web' }] });
  indexer.endpoints.set('shop/web', someEndpoints('web'));
  expect(digestService(indexer, 'shop', 'web')).toEqual(digest);
});

describe('halves', () => {
  const pod = (name: string): Fact => ({ kind: 'pod', name, pod: null, node: null });
  const three = ['p', 'q', 'r'].map(pod);

  test('have the same facts in the same order, and the first one the more', () => {
    const both = halves({ facts: three });
    expect(both).toEqual([{ facts: three.slice(0, 2) }, { facts: three.slice(2) }]);
  });

  test.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])('of a part of a snapshot, first: %s, last: %s, begin and end as it does', (first, last) => {
    const snapshot = { first, last, initial: true, resourceVersions };
    expect(halves({ facts: three, snapshot }).map((half) => half.snapshot)).toEqual([
      { ...snapshot, last: false },
      { ...snapshot, first: false },
    ]);
  });
});

describe('a Pod', () => {
  test.each([
    ['is nowhere if its Node is missing', () => {}, null],
    [
      'is in an unknown zone if its Node cannot be decoded',
      () => indexer.addUndecodable('nodes', '', 'n1'),
      { zone: '' },
    ],
    ['is in the zone of its Node', () => indexer.setNode(aNode('n1', 'a')), { zone: 'a' }],
  ] as const)('%s', (_, given, node) => {
    indexer.setService(aService('web', { selector: { app: 'web' } }));
    const watched = aPod('p', { app: 'web' }, { nodeName: 'n1' });
    indexer.setPod(watched);
    given();
    expect(facts({ kind: 'pod', name: 'p' })).toStrictEqual([{ kind: 'pod', name: 'p', pod: watched.pod, node }]);
  });
});
