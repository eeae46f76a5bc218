import type { Fact } from '@sluice/messages';
import type { Endpoints, Mutation, NodeTopology } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { evolve } from './evolve.ts';
import { maxCooldownMs, maxTopologyDelayMs, writeCooldownMs } from './policy.ts';
import { defaultSettings } from './settings.ts';
import { aChange, aSnapshot, fact, given, startTime } from './testing/index.ts';
import { aService } from './testing/objects.ts';

const endpointsOf = (ready: number, notReady: number): Mutation => {
  const addresses = (count: number, net: number) =>
    Array.from({ length: count }, (_, i) => ({ ip: `10.${net}.${i >> 8}.${i & 255}` }));
  const object: Endpoints = {
    metadata: { name: 'web', namespace: 'shop' },
    subsets: [{ addresses: addresses(ready, 0), notReadyAddresses: addresses(notReady, 1), ports: [{ port: 80 }] }],
  };
  return { verb: 'update', resource: 'endpoints', object };
};

const applied = (tookMs: number, requestedMs = 0) => ({ tookMs, requestedMs });

describe('the cooldown of Endpoints', () => {
  test('grows with the number of addresses, ready or not', () => {
    const cooldown = writeCooldownMs({ groups: [{ mutations: [endpointsOf(900, 100)] }] }, applied(0));
    expect(cooldown).toBe(250);
  });

  test('is zero if they are few or deleted', () => {
    expect(writeCooldownMs({ groups: [{ mutations: [endpointsOf(99, 0)] }] }, applied(0))).toBe(0);
    const deletion: Mutation = { verb: 'delete', resource: 'endpoints', name: 'web' };
    expect(writeCooldownMs({ groups: [{ mutations: [deletion] }] }, applied(0))).toBe(0);
  });
});

describe('the cooldown of slices and small Endpoints', () => {
  const deletion: Mutation = { verb: 'delete', resource: 'endpointslices', name: 'web-1' };
  const cooldown = (tookMs: number) => writeCooldownMs({ groups: [{ mutations: [deletion] }] }, applied(tookMs));

  test('is zero after a plan that was applied promptly, or with a clock that is behind', () => {
    expect([cooldown(0), cooldown(20), cooldown(-5000)]).toEqual([0, 0, 0]);
  });

  test('grows with the time to apply, up to a limit', () => {
    expect(cooldown(50)).toBeGreaterThan(0);
    expect(cooldown(80)).toBeGreaterThan(cooldown(50));
    expect(cooldown(60_000)).toBe(75);
  });

  test('is that of the size, if longer', () => {
    const groups = [{ mutations: [endpointsOf(2000, 0)] }];
    expect(writeCooldownMs({ groups }, applied(60_000))).toBe(500);
  });

  test('is the one that the writer asks for, if longer, up to a limit', () => {
    const requested = (tookMs: number, requestedMs: number) =>
      writeCooldownMs({ groups: [{ mutations: [endpointsOf(20, 0)] }] }, applied(tookMs, requestedMs));
    expect([requested(0, 700), requested(60_000, 700), requested(60_000, 10)]).toEqual([700, 700, 75]);
    expect(requested(0, 3_600_000)).toBe(maxCooldownMs);
  });
});

const topologyOf = (a: number): NodeTopology => ({ zoneRatios: { a, b: 1 - a }, nodesByZone: { a: 1, b: 1 } });
const ratios = (a: number, hintedServices = 100): Fact => ({
  kind: 'topology',
  topology: topologyOf(a),
  hintedServices,
});
const annotations = { 'service.kubernetes.io/topology-mode': 'Auto' };
const service: Fact = { kind: 'service', service: aService({ annotations }) };
const pods = ['a', 'b'].flatMap((zone) => [1, 2, 3, 4, 5].map((i) => fact.pod(`${zone}-${i}`, true, zone)));
const settings = { ...defaultSettings, controllers: new Set(['endpointslice'] as const) };
/** Before the resourceVersions of all writes. */
const behind = { endpoints: '9', endpointslices: '9' };
const now = startTime + 10_000;

/** Ten endpoints in two zones, five hints each. */
const hinted = () =>
  given(aSnapshot(1, [service, ratios(0.5), ...pods], behind), { settings })
    .when()
    .applied();

describe('other zone ratios', () => {
  test('lead to a decision at once if the Service is overloaded (F14)', () => {
    const changed = hinted().and(aChange(2, [ratios(0.2)]), now);
    const { groups } = changed
      .thenDueAt(now)
      .when()
      .thenPlans({ endpointslice: ['update'] })
      .plan('endpointslice');
    const zones = JSON.stringify(groups).matchAll(/"forZones":\[\{"name":"(.)"/g);
    expect([...zones].filter(([, zone]) => zone === 'b')).toHaveLength(8);
  });

  test('lead to a decision at once if the Nodes lack information', () => {
    const topology = { zoneRatios: null, nodesByZone: { a: 2 } };
    hinted()
      .and(aChange(2, [{ kind: 'topology', topology, hintedServices: 100 }]), now)
      .thenDueAt(now);
  });

  test('lead to a decision within the period of all hinted Services otherwise', () => {
    const changed = hinted().and(aChange(2, [ratios(0.45)]), now);
    changed.when(now).thenNothing();
    const { topologyDueAt = 0 } = changed.state.controller('endpointslice').timers;
    expect(topologyDueAt).toBeGreaterThan(now);
    expect(topologyDueAt).toBeLessThanOrEqual(now + 10_000);
    changed.thenDueAt(topologyDueAt).when(topologyDueAt).thenNothing().thenDueAt(null);
  });

  test('that change again meanwhile do not delay the decision, and one decision is made', () => {
    const changed = hinted().and(aChange(2, [ratios(0.45)]), now);
    const { topologyDueAt = 0 } = changed.state.controller('endpointslice').timers;
    changed
      .and(aChange(3, [ratios(0.46)]), now + 1)
      .thenDueAt(topologyDueAt)
      .and(aChange(4, [ratios(0.2)]), now + 2)
      .thenDueAt(now + 2)
      .when()
      .thenPlans({ endpointslice: ['update'] })
      .applied()
      .thenDueAt(null);
  });

  test('are used by a decision that is made for another reason, and cause no second one', () => {
    hinted()
      .and(aChange(2, [ratios(0.45)]), now)
      .and(aChange(3, [fact.podGone('a-1')]), now + 1)
      .when()
      .thenPlans({ endpointslice: ['update'] })
      .applied()
      .thenDueAt(null);
  });

  test('in a resync, or from a watcher that does not say how many Services have hints, are considered at once', () => {
    hinted()
      .and(aSnapshot(2, [service, ratios(0.45), ...pods], behind), now)
      .thenDueAt(now);
    hinted()
      .and(aChange(2, [{ kind: 'topology', topology: topologyOf(0.45) }]), now)
      .thenDueAt(now);
  });

  test('wait for a plan in flight, whose hints say whether the Service is overloaded', () => {
    const writing = hinted()
      .and(aChange(2, [ratios(0.2)]), now)
      .when();
    writing.and(aChange(3, [ratios(0.21)]), now + 1);
    expect(writing.state.controller('endpointslice')).toMatchObject({
      timers: { dueAt: null, topologyDueAt: expect.any(Number) },
    });
    writing.and(aChange(4, [ratios(0.8)]), now + 2);
    expect(writing.state.controller('endpointslice').timers.dueAt).toBe(now + 2);
  });
});

describe('the pace', () => {
  const delays = (services: number): readonly number[] => {
    const { state } = hinted();
    return Array.from({ length: services }, (_, i) => {
      const copy = evolve(state.copy(), aChange(i + 2, [ratios(0.45, services)]), now, settings);
      return (copy.controller('endpointslice').timers.topologyDueAt ?? Number.NaN) - now;
    });
  };

  test('is ten Services per second, evenly', () => {
    const seconds = Map.groupBy(delays(600), (ms) => Math.floor(ms / 1000));
    expect(Math.max(...seconds.keys())).toBeLessThan(60);
    expect(seconds.size).toBeGreaterThan(55);
    for (const { length } of seconds.values()) expect(length).toBeLessThanOrEqual(25);
  });

  test('rises so that all are decided after five minutes', () => {
    const all = delays(10_000);
    expect(Math.max(...all)).toBeLessThanOrEqual(maxTopologyDelayMs);
    expect(Math.max(...all)).toBeGreaterThan(maxTopologyDelayMs * 0.99);
  });
});
