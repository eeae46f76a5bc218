import type { EndpointSlice, Pod } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import type { DecodedObject } from './decode-object.ts';
import { EventHandler } from './event-handler.ts';
import { Indexer } from './indexer.ts';
import { Router } from './router.ts';
import { aPod, aService, aSlice, someEndpoints } from './testing/objects.ts';

let indexer: Indexer;
let handler: EventHandler;
/** What the events led to: Service, reason and description. */
let marked: string[];

beforeEach(() => {
  indexer = new Indexer();
  marked = [];
  const router = new Router(indexer, (_, service, { kind }, { description, observedAt }) => {
    marked.push(`${service} ${kind}: ${description} at ${observedAt}`);
  });
  handler = new EventHandler(indexer, router);
});

/** What the action led to. */
function marks(action: () => void): readonly string[] {
  marked.length = 0;
  action();
  return [...marked];
}

const decodedSlice = (name: string, resourceVersion: string, service = 'web'): DecodedObject<'endpointslices'> => {
  const { metadata, ...rest } = aSlice(name, service);
  const object: EndpointSlice = { ...rest, metadata: { ...metadata, resourceVersion } };
  return { namespace: 'shop', name, resourceVersion, object };
};

const decodedPod = (name: string, given: Partial<Pod> = {}): DecodedObject<'pods'> => ({
  ...{ namespace: 'shop', name, resourceVersion: '5' },
  object: aPod(name, { app: 'web' }, given),
});

const undecodable = (name: string) => ({ namespace: 'shop', name, resourceVersion: '9', object: undefined });

describe('an event', () => {
  test('says whether the object was added, changed or deleted, and when that was observed', () => {
    const slice = decodedSlice('s', '5');
    expect(marks(() => handler.upsert('endpointslices', slice, 1))).toEqual([
      'web slice: EndpointSlice shop/s added at 1',
    ]);
    expect(marks(() => handler.upsert('endpointslices', slice, 2))).toEqual([
      'web slice: EndpointSlice shop/s changed at 2',
    ]);
    expect(marks(() => handler.delete('endpointslices', slice, 3))).toEqual([
      'web slice: EndpointSlice shop/s deleted at 3',
    ]);
  });

  test('of a Node that cannot be decoded concerns its Pods when it comes and when it goes', () => {
    indexer.setService(aService('web', { selector: { app: 'web' } }));
    handler.upsert('pods', decodedPod('p', { nodeName: 'n1' }), 1);
    const node = { ...undecodable('n1'), namespace: '' };
    expect(marks(() => handler.upsert('nodes', node, 2))).toEqual(['web pod: Node n1 added at 2']);
    expect(marks(() => handler.upsert('nodes', node, 3))).toEqual([]);
    expect(marks(() => handler.delete('nodes', node, 4))).toEqual(['web pod: Node n1 deleted at 4']);
  });

  test('of a slice that cannot be decoded withholds its Service until it is valid or deleted', () => {
    const slice = { ...undecodable('s'), service: 'shop/web' };
    handler.upsert('endpointslices', slice, 1);
    expect(indexer.isUndecodable('shop', 'web')).toBe(true);
    expect(marks(() => handler.upsert('endpointslices', decodedSlice('s', '10', 'db'), 2))).toEqual([
      'web snapshot: EndpointSlice shop/s added at 2',
      'db slice: EndpointSlice shop/s added at 2',
    ]);
    expect(indexer.isUndecodable('shop', 'web')).toBe(false);
    handler.delete('endpointslices', slice, 3);
    handler.upsert('endpointslices', slice, 4);
    expect(marks(() => handler.delete('endpointslices', slice, 5))).toEqual([
      'web snapshot: EndpointSlice shop/s deleted at 5',
    ]);
    expect(indexer.isUndecodable('shop', 'web')).toBe(false);
  });

  test('of an object that cannot be decoded changes nothing but that it exists', () => {
    handler.upsert('endpointslices', decodedSlice('s', '5'), 1);
    expect(marks(() => handler.upsert('endpointslices', undecodable('s'), 2))).toEqual([]);
    expect(marks(() => handler.upsert('services', undecodable('web'), 2))).toEqual([]);
    expect(indexer.isUndecodable('shop', 'web')).toBe(true);
  });

  test('that deletes a Service which could never be decoded publishes it again', () => {
    handler.upsert('services', undecodable('web'), 1);
    expect(marks(() => handler.delete('services', undecodable('web'), 2))).toEqual([
      'web snapshot: Service shop/web deleted at 2',
    ]);
    expect(marks(() => handler.delete('services', undecodable('web'), 3))).toEqual([]);
  });
});

describe('a Pod update', () => {
  beforeEach(() => {
    indexer.setService(aService('web'));
    handler.upsert('pods', decodedPod('p', { ports: [{ name: 'http', protocol: 'TCP', containerPort: 80 }] }), 1);
  });

  test.each<[string, Partial<Pod>, number]>([
    ['that changes nothing that endpoints depend on is no event', {}, 0],
    ['that changes a field is one', { ready: false }, 1],
    ['that removes a field is one', { ports: [] }, 1],
    ['that adds a field is one', { unready: { status: 'Unknown', reason: 'NodeLost', message: '' } }, 1],
    ['that changes a member of a field is one', { ports: [{ name: 'http', protocol: 'TCP', containerPort: 81 }] }, 1],
    ['that sets a time that was null is one', { readyTransitionTime: '2026-01-01T00:00:00Z' }, 1],
    ['that adds an address is one', { ips: ['10.1.0.1', 'fd00::1'] }, 1],
  ])('%s', (_, given, events) => {
    const ports = [{ name: 'http', protocol: 'TCP', containerPort: 80 }];
    expect(marks(() => handler.upsert('pods', decodedPod('p', { ports, ...given }), 2))).toHaveLength(events);
  });

  test('that removes a member is an event, as in the other direction', () => {
    const unready = { status: 'False', reason: 'Starting', message: '' };
    handler.upsert('pods', decodedPod('q', { unready }), 1);
    expect(marks(() => handler.upsert('pods', decodedPod('q'), 2))).toHaveLength(1);
  });

  test('that moves it to another Service by its labels is an event', () => {
    const moved = { ...decodedPod('p'), object: aPod('p', { app: 'db' }) };
    expect(marks(() => handler.upsert('pods', moved, 2))).toHaveLength(1);
  });
});

test('a list deletes what it lacks, whether it could be decoded or not', () => {
  indexer.setService(aService('web'));
  for (const name of ['p', 'q']) handler.upsert('pods', decodedPod(name), 1);
  handler.upsert('pods', undecodable('broken'), 1);
  handler.upsert('pods', undecodable('listed'), 1);
  expect(marks(() => handler.replace('pods', [decodedPod('q'), decodedPod('r'), undecodable('listed')], 2))).toEqual([
    'web pod: Pod shop/r added, ready at 2',
    'web pod: Pod shop/p deleted at 2',
  ]);
  expect([...indexer.namesOf('pods')].sort()).toEqual(['shop/listed', 'shop/q', 'shop/r']);
});

test('what is kept of an object is its last valid version, or that it exists', () => {
  const slice = decodedSlice('s', '5');
  expect(handler.kept('endpointslices', slice)).toBeUndefined();
  handler.upsert('endpointslices', undecodable('s'), 1);
  expect(handler.kept('endpointslices', slice)).toEqual({ namespace: 'shop', name: 's' });
  handler.upsert('endpointslices', { ...undecodable('s'), service: 'shop/web' }, 1);
  expect(handler.kept('endpointslices', slice)).toEqual({ namespace: 'shop', name: 's', service: 'shop/web' });
  handler.upsert('endpointslices', slice, 1);
  handler.upsert('endpointslices', undecodable('s'), 1);
  expect(handler.kept('endpointslices', slice)).toEqual({ namespace: 'shop', name: 's', object: slice.object });
});

describe('a listed object, seen last before resourceVersion 10, contradicts the index', () => {
  beforeEach(() => {
    handler.upsert('endpointslices', decodedSlice('s', '5'), 1);
  });

  test.each<[string, DecodedObject<'endpointslices'>, boolean]>([
    ['if it was written before and is not indexed', decodedSlice('t', '6'), true],
    ['if it was written at that version and is not indexed', decodedSlice('t', '10'), true],
    ['if it was written before and is indexed with another version', decodedSlice('s', '4'), true],
    ['not if it is indexed with this version', decodedSlice('s', '5'), false],
    ['not if it was written later', decodedSlice('t', '11'), false],
    ['not if it cannot be decoded', { ...undecodable('t'), resourceVersion: '6' }, false],
    ['not if no Service owns it, since only others are indexed', decodedSlice('t', '6', ''), false],
  ])('%s', (_, object, isContradiction) => {
    const name = handler.contradiction('endpointslices', [decodedSlice('s', '5'), object], '10');
    expect(name).toBe(isContradiction ? `shop/${object.name}` : undefined);
  });

  test('whatever its labels are if it is Endpoints', () => {
    const object = someEndpoints('web');
    const decoded = { namespace: 'shop', name: 'web', resourceVersion: '5', object };
    expect(handler.contradiction('endpoints', [decoded], '10')).toBe('shop/web');
    handler.upsert('endpoints', decoded, 1);
    expect(handler.contradiction('endpoints', [decoded], '10')).toBeUndefined();
  });
});
