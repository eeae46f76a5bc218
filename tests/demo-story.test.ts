import { ClusterSimulator } from '@sluice/demo';
import { FakeApiServer } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Fleet, startFleet } from './harness/fleet.ts';

/** What the demo tells happens in the objects, and in the slices that Sluice writes for them. */
let clock: VirtualClock;
let server: FakeApiServer;
let simulator: ClusterSimulator;
let fleet: Fleet;

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new FakeApiServer({ clock, random: seededRandom(1) });
  simulator = new ClusterSimulator({ api: server, clock, random: seededRandom(1), activity: 'story' });
  simulator.start();
  fleet = startFleet({ server, clock, seed: 2 });
});

afterEach(async () => {
  simulator.stop();
  await fleet.stop();
});

interface Endpoint {
  readonly conditions: { readonly ready: boolean };
  readonly nodeName?: string;
  readonly targetRef?: { readonly name: string };
}

function endpoints(service?: string): readonly Endpoint[] {
  const slices = server.list('endpointslices').items.filter(({ metadata }) => {
    const of = metadata.labels?.['kubernetes.io/service-name'];
    return service === undefined ? of !== undefined : of === service;
  });
  return slices.flatMap((slice) => (slice.endpoints ?? []) as readonly Endpoint[]);
}

/** Runs until the story tells this, and a second longer. Returns what the pattern's group matches. */
async function untilItTells(pattern: RegExp): Promise<string> {
  for (const until = clock.now() + 300_000; clock.now() < until; await advance(clock, 500)) {
    const match = pattern.exec(simulator.happening);
    if (match === null) continue;
    await advance(clock, 1_000);
    return match[1] ?? '';
  }
  throw new Error(`the story did not tell ${pattern}`);
}

const podsOf = (service: string) =>
  endpoints(service)
    .map(({ targetRef }) => targetRef?.name)
    .sort();

test('a rollout replaces all endpoints of its Service', async () => {
  await untilItTells(/^All is quiet$/);
  const before = podsOf('cart');
  expect(before).toHaveLength(4);
  await untilItTells(/^Deployment shop\/cart has rolled out$/);
  const after = podsOf('cart');
  expect(after).toHaveLength(4);
  expect(after.filter((pod) => before.includes(pod))).toEqual([]);
});

test('the endpoint of a Pod that fails its readiness probe is not ready, until it is ready again', async () => {
  const pod = await untilItTells(/^Pod shop\/(checkout-\S+) fails its readiness probe$/);
  const ready = () => endpoints('checkout').map((one) => [one.targetRef?.name, one.conditions.ready]);
  expect(ready().filter(([, isReady]) => !isReady)).toEqual([[pod, false]]);
  expect(ready()).toHaveLength(6);
  await untilItTells(/is ready again$/);
  expect(ready()).toContainEqual([pod, true]);
});

test('the Pods of a lost Node are not ready and then leave the slices, and all Services recover', async () => {
  const node = await untilItTells(/^Node (\S+) does not respond/);
  const there = () => endpoints().filter(({ nodeName }) => nodeName === node);
  expect(server.get('nodes', '', node)).toMatchObject({
    status: { conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'Unknown' })]) },
  });
  expect(there().length).toBeGreaterThan(0);
  // A headless Service of the cluster publishes Pods that are not ready.
  const pods = there().filter(({ targetRef }) => !targetRef?.name.startsWith('ledger-db'));
  expect(pods.filter(({ conditions }) => conditions.ready)).toEqual([]);
  await untilItTells(new RegExp(`^Node ${node} is removed`));
  expect(there()).toEqual([]);
  expect(() => server.get('nodes', '', node)).toThrow('not found');
  await untilItTells(/takes its place$/);
  await untilItTells(/^All is quiet$/);
  await advance(clock, 2_000);
  for (const service of ['cart', 'checkout', 'frontend'])
    expect(endpoints(service).filter(({ conditions }) => !conditions.ready)).toEqual([]);
});
