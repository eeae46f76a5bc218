import type { Change, Fact } from '@sluice/messages';
import type { EndpointSlice } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import { freeRepairs } from './controller-state.ts';
import { planOf } from './decide.ts';
import { evolve } from './evolve.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings } from './settings.ts';
import { aChange, aSnapshot, fact, given, startTime } from './testing/index.ts';
import { aController, aService, someEndpoints } from './testing/objects.ts';

/** A mutating webhook changes what Sluice writes; the response names only the version. */
const service: Fact = { kind: 'service', service: aService() };
const behind = { endpoints: '9', endpointslices: '9' };
const settings = { ...defaultSettings, controllers: new Set(['endpointslice'] as const) };
/** Later than the pause between two repairs. */
const pauseMs = 5_000;

type History = ReturnType<ReturnType<typeof given>['when']>;
let history: History;
let now: number;
let sequence: number;

beforeEach(() => {
  [now, sequence] = [startTime, 1];
  history = given(aSnapshot(1, [service, fact.pod('p')], behind), { settings }).when();
});

const known = (): EndpointSlice => {
  const [entry] = history.state.slices.values();
  if (entry === undefined) throw new Error('no slice');
  return entry.slice;
};

/** The slice in the version that is known, as the webhook leaves it. */
function delivered(changed: Partial<EndpointSlice>): Fact {
  const slice = { ...structuredClone(known()), ...changed };
  return { kind: 'slice', name: slice.metadata.name, slice, uid: slice.metadata.uid ?? '' };
}

const withLabel = (): Partial<EndpointSlice> => {
  const { metadata } = known();
  return { metadata: { ...metadata, labels: { ...metadata.labels, team: 'a' } } };
};

const written = () => history.applied(now);
const change = (observed: Fact): Change => aChange(++sequence, [observed]);

test('the content of a write that is delivered as written leads to no decision', () => {
  written()
    .and(change(delivered({})), now)
    .thenDueAt(null);
});

test('content that a webhook changed is known, and repaired', () => {
  written().and(change(delivered({ endpoints: [] })), now);
  expect(known().endpoints).toEqual([]);
  history = history.when(now + pauseMs).thenPlans({ endpointslice: ['update'] });
});

test('so is content that the watch delivers before the Outcome', () => {
  const [mutation] = history.plan('endpointslice').groups.flatMap(({ mutations }) => mutations);
  if (mutation === undefined || mutation.verb === 'delete' || mutation.resource !== 'endpointslices')
    throw new Error('no slice is created');
  const { name } = mutation.object.metadata;
  const metadata = { ...mutation.object.metadata, uid: `stored-${name}`, resourceVersion: '50', generation: 1 };
  const slice = { ...mutation.object, metadata, endpoints: [] };
  history.and(change({ kind: 'slice', name, slice, uid: `stored-${name}` }));
  written();
  expect(known().endpoints).toEqual([]);
  history.when(now + pauseMs).thenPlans({ endpointslice: ['update'] });
});

test('so is content that only a snapshot delivers, after a restart', () => {
  written();
  const facts = [service, fact.pod('p'), delivered({ endpoints: [] })];
  history.and(aSnapshot([2, 1], facts, { initial: true }), now);
  history.when(now + pauseMs).thenPlans({ endpointslice: ['update'] });
});

test('labels that a webhook added are known, and removed by the next decision', () => {
  written()
    .and(change(delivered(withLabel())), now)
    .thenDueAt(null);
  expect(known().metadata.labels).toMatchObject({ team: 'a' });
});

describe('a webhook that changes every write', () => {
  /** Writes what is due, and lets the webhook change it. Returns the number of writes. */
  function repairs(): number {
    let writes = 0;
    for (; writes < 20; writes++) {
      written().and(change(delivered({ endpoints: [] })), now);
      now += 60_000;
      history = history.when(now);
      if (history.decisions.every((decision) => planOf(decision) === undefined)) break;
    }
    return writes;
  }

  test('is overruled a few times, the last of which names a competitor; then only when something else changes', () => {
    expect(repairs()).toBe(freeRepairs);
    history = history.and(aChange(++sequence, [fact.pod('q')]), now).when(now + 1_000);
    history.thenPlans({ endpointslice: ['update'] });
    expect(repairs()).toBe(0);
    expect(history.state.controller('endpointslice').repairs.count).toBe(freeRepairs);
  });

  test('is overruled again after ten minutes without a repair', () => {
    repairs();
    now += 11 * 60_000;
    history = history.and(aChange(++sequence, [fact.pod('q')]), now).when(now + 1_000);
    now += 1_000;
    expect(repairs()).toBe(freeRepairs);
  });
});

test('Endpoints that a webhook changed are known, and repaired', () => {
  const state = new ServiceState({ cluster: 'c', namespace: 'shop', service: 'web' });
  evolve(state, aSnapshot(1, [service, fact.endpoints()]), now, defaultSettings);
  state.setController('endpoints', aController({ timers: { dueAt: null } }, state.controller('endpoints')));
  const subsets = [{ addresses: [{ ip: '10.0.0.9' }], ports: [] }];
  const endpoints = { ...someEndpoints(), subsets };
  evolve(state, aChange(2, [{ kind: 'endpoints', endpoints, uid: 'endpoints-uid' }]), now, defaultSettings);
  expect(state.endpoints?.endpoints.subsets).toEqual(subsets);
  expect(state.controller('endpoints').timers.dueAt).toBe(now);
});
