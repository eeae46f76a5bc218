import { LogicalServices } from '@sluice/logical-services';
import { ClusterLog, endpoint, served, type TestService } from '@sluice/logical-services/testing';
import { VirtualClock } from '@sluice/platform';
import type { ServiceProblem } from '@sluice/recording';
import { unidentified } from '@sluice/store';
import { beforeEach, describe, expect, test } from 'vitest';
import { ThreadBudget } from '../thread-budget.ts';
import { LogicalServiceIndex } from '../view/logical-service-index.ts';
import type { ClusterView, OutageView } from '../view/schemas.ts';
import { problemsOverClusters } from './problems-over-clusters.ts';

const now = 1_000_000;
const up = served([endpoint('a')]);
const down = served([endpoint('a', false)]);
const outage = { since: 900_000, reason: 'connection refused' };

let clusters: readonly ClusterView[];
let fleetOutage: OutageView | null;

const view = (name: string, given: Partial<ClusterView> = {}): ClusterView => ({
  ...{ identity: name, name, version: '', server: '', state: 'watched', ...given },
});

/** What is wrong over all clusters if they have shop/web as given. */
async function problemsOf(
  given: Readonly<Record<string, TestService>>,
  open: readonly ServiceProblem[] = [],
  policy = { action: 'keep', maxAgeMs: 0 } as { readonly action: 'keep' | 'drop'; readonly maxAgeMs: number },
) {
  const logicalServices = new LogicalServices();
  for (const [name, service] of Object.entries(given)) {
    const log = new ClusterLog(name);
    log.snapshot('web', service);
    for (const { key, message } of log.records) logicalServices.apply(key, message, 0);
  }
  const sources = { clusters: () => clusters, outage: () => fleetOutage };
  const index = new LogicalServiceIndex(new ThreadBudget(new VirtualClock(0), 1));
  return problemsOverClusters({ history: { logicalServices }, sources, index, policy }, open, now);
}

const textsOf = async (...args: Parameters<typeof problemsOf>) =>
  (await problemsOf(...args)).map(({ key, reason, message, from }) => `${key} ${reason} since ${from}: ${message}`);

const outageIn = (cluster: string, from: number, given: Partial<ServiceProblem> = {}): ServiceProblem => ({
  ...{ key: `${cluster}/shop/web`, reason: 'NoReadyEndpoints', message: '', from, to: null },
  ...{ isStartKnown: true, event: `in ${cluster}`, ...given },
});

beforeEach(() => {
  clusters = [view('east'), view('west')];
  fleetOutage = null;
});

describe('a Service over all clusters', () => {
  test('is not served since the last cluster lost its endpoints', async () => {
    const found = await problemsOf({ east: down, west: down }, [outageIn('east', 20), outageIn('west', 30)]);
    const message = 'no ready endpoint in east and west';
    expect(found).toEqual([
      { ...outageIn('west', 30), key: '*/shop/web', reason: 'NotServed', message, event: 'in west' },
    ]);
  });

  test('is served by one cluster since another one lost its endpoints', async () => {
    expect(await textsOf({ east: up, west: down }, [outageIn('west', 30)])).toEqual([
      '*/shop/web ServedByOneCluster since 30: only east has ready endpoints (1)',
    ]);
  });

  test('is served by one cluster since another one is lost whose endpoints do not count', async () => {
    clusters = [view('east'), view('west', { state: 'not answering', outage })];
    const policy = { action: 'drop', maxAgeMs: 0 } as const;
    expect(await textsOf({ east: up, west: up }, [], policy)).toEqual([
      '*/shop/web ServedByOneCluster since 900000: only east has ready endpoints (1)',
      'west/*/* LostCluster since 900000: not answering (connection refused)',
    ]);
  });

  test('differs at the latest since a spec last changed', async () => {
    const other = served([endpoint('a')], { trafficDistribution: 'PreferClose' });
    const [problem, ...others] = await problemsOf({ east: up, west: other });
    expect(problem).toMatchObject({ reason: 'SpecDiffers', message: 'trafficDistribution', isStartKnown: false });
    expect([problem?.from, others]).toEqual([1, []]);
  });

  test.each<[string, Readonly<Record<string, TestService>>, readonly ServiceProblem[]]>([
    ['it is in one cluster only', { east: down }, [outageIn('east', 1)]],
    ['it is missing in a cluster', { east: up }, []],
    ['all clusters serve it', { east: up, west: up }, []],
    [
      'it was scaled to zero in the others',
      { east: up, west: served([]) },
      [outageIn('west', 1, { reason: 'ScaledToZero' })],
    ],
  ])('is no problem if %s', async (_, given, open) => {
    expect(await problemsOf(given, open)).toEqual([]);
  });
});

describe('a lost cluster', () => {
  test('is one problem, however many Services its endpoints count for', async () => {
    clusters = [view('east'), view('west', { state: 'not answering', outage })];
    expect(await textsOf({ east: up, west: up })).toEqual([
      'west/*/* LostCluster since 900000: not answering (connection refused); its last known endpoints count for 1 Service',
    ]);
  });

  test('that has never answered is known by its name', async () => {
    const never = { ...outage, neverAnswered: true };
    clusters = [view('west', { identity: unidentified('west'), state: 'not answering', outage: never })];
    expect(await textsOf({})).toEqual([
      'west/*/* LostCluster since 900000: not answering (connection refused); nothing is known of it',
    ]);
  });

  test('that nobody watches is lost since the console saw that', async () => {
    clusters = [view('east', { state: 'not watched', notWatchedSince: 500_000 })];
    expect(await textsOf({ east: down })).toEqual(['east/*/* LostCluster since 500000: not watched']);
  });

  test('that the fleet does not name is lost since its last Change', async () => {
    clusters = [];
    expect(await textsOf({ east: down })).toEqual(['east/*/* LostCluster since 1: not watched']);
  });

  test('is none that is about to be watched, or while the fleet itself does not answer', async () => {
    clusters = [view('east', { state: 'connecting' })];
    expect(await textsOf({ east: up })).toEqual([]);
    fleetOutage = { what: 'the store', ...outage };
    clusters = [view('east', { state: 'unknown', watcher: { owner: 'worker-1', epoch: 1 } })];
    expect(await textsOf({ east: up, west: up })).toEqual([]);
  });
});
