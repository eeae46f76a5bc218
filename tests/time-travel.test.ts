import { History, tapBus } from '@sluice/console';
import { FakeApiServer } from '@sluice/fake-apiserver';
import { parseServiceKey } from '@sluice/messages';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import type { ReconcilerOptions } from '@sluice/reconciler';
import { defaultSettings, type ServiceState, type Settings } from '@sluice/service-state';
import { MemoryStore } from '@sluice/store';
import { expect, test } from 'vitest';
import { partitions, startFleet } from './harness/fleet.ts';
import { RandomUser } from './harness/random-user.ts';
import { stateDifferences } from './harness/state-differences.ts';
import { storedStates } from './harness/stored-states.ts';

/** None is the default. */
const settings: Settings = {
  ...defaultSettings,
  controllers: new Set(['endpointslice', 'endpointslicemirroring']),
  maxEndpointsPerSlice: 2,
  maxEndpointsPerSubset: 1,
  batchPeriodMs: { endpoints: 0, endpointslice: 400, endpointslicemirroring: 300 },
  batching: { freshnessTargetMs: 900, watchers: 1_000 },
  backoff: { baseMs: 70, maxMs: 900 },
  maxAttempts: 3,
  parkedRetryMs: 2_000,
};

/** In the last ones, a Service is gone and comes back between two moments. */
const seeds = [...Array.from({ length: 60 }, (_, index) => index + 1), 140, 280, 308, 312];

test.each(seeds)(
  'a console shows the decisions that a reconciler took with other settings, with their numbers: seed %d',
  async (seed) => {
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const server = new FakeApiServer({ clock, random: seededRandom(seed + 1), bookmarkIntervalMs: 60_000 });
    server.create('namespaces', { metadata: { name: 'shop' } });
    const user = new RandomUser(server, seededRandom(seed + 2), clock);
    const store = new MemoryStore();
    const history = new History({ clock });
    const taken = new Map<string, unknown[]>();
    const onDecided: ReconcilerOptions['onDecided'] = (key, controller, decision) => {
      if (decision?.kind !== 'planned') return;
      const { plan, decidedAt, groups } = decision.plan;
      const mutations = groups.flatMap((group) => group.mutations).map(({ verb, resource }) => `${verb} ${resource}`);
      taken.set(key, [...(taken.get(key) ?? []), { controller, at: decidedAt, plan: plan.number, mutations }]);
    };
    const fleet = startFleet({
      ...{ server, clock, seed, settings, store, observe: { onDecided } },
      wrapBus: (bus) => tapBus(bus, history),
    });
    const moments: { readonly at: number; readonly states: ReadonlyMap<string, ServiceState> }[] = [];
    user.createInitialObjects();
    for (let step = 0; step < 60; step++) {
      user.step();
      await advance(clock, step % 5 === 0 ? 10_000 : 50);
      if (step % 5 === 0) moments.push({ at: clock.now() - 1, states: await storedStates(store, partitions) });
    }
    await advance(clock, 10_000);

    await fleet.stop();
    for (const [key, decisions] of taken) {
      const journal = history.get(parseServiceKey(key));
      const shown = journal?.entries.flatMap((entry) => {
        if (entry.kind !== 'decided') return [];
        const mutations = entry.mutations.map(({ verb, resource }) => `${verb} ${resource}`);
        return [{ controller: entry.controller, at: entry.at, plan: entry.plan.number, mutations }];
      });
      expect(shown, key).toEqual(decisions);
    }
    const wrong: string[] = [];
    let compared = 0;
    for (const { at, states } of moments) {
      for (const [key, stored] of states) {
        // Only plans say with which settings the reconciler has decided.
        if (!taken.has(key)) continue;
        const then = history.get(parseServiceKey(key))?.stateAt(at);
        if (then === undefined) throw new Error(`no history of ${key}`);
        compared++;
        const all = stateDifferences(stored, then.state, { wasGone: true, isWorker: false });
        // The reconciler drops the state of a Service that is gone, and the console shows it.
        const different = all.filter((one) => !one.startsWith('orphaned '));
        if (different.length > 0) wrong.push(`${key} at ${at}: ${different.join('; ')}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(10);
  },
);
