import { decisionOrder } from '@sluice/controllers';
import type { Fact, PlannedMutations } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { decide, planOf } from './decide.ts';
import { evolve, initialState, type ServiceMessage } from './evolve.ts';
import { replayLog } from './replay-log.ts';
import type { ServiceState } from './service-state.ts';
import { defaultSettings, type Settings } from './settings.ts';
import { aChange, anOutcome, aSnapshot, fact, key } from './testing/messages.ts';
import { aPod, aService } from './testing/objects.ts';

/** A Service as a reconciler keeps it, and the log that it leaves. */
class Recorded {
  readonly state = initialState(key);
  readonly changes: ServiceMessage[] = [];
  readonly mutations: PlannedMutations[] = [];
  readonly #settings: Settings;
  #now = 1_000;

  constructor(settings: Settings = defaultSettings) {
    this.#settings = settings;
  }

  receive(...messages: readonly ServiceMessage[]): this {
    for (const message of messages) {
      this.changes.push(message);
      evolve(this.state, message, ++this.#now, this.#settings);
    }
    return this;
  }

  decide(controllers: readonly Controller[] = decisionOrder): this {
    for (const controller of controllers) {
      const nextPlan = { epoch: 1, number: this.mutations.length + 1 };
      const decision = decide(this.state, controller, this.#now, { settings: this.#settings, nextPlan });
      if (decision === null) continue;
      evolve(this.state, decision, this.#now, this.#settings);
      const plan = planOf(decision);
      if (plan !== undefined) this.mutations.push(plan);
    }
    return this;
  }

  plan(number: number): PlannedMutations {
    return this.mutations[number - 1] ?? expect.unreachable(`no plan ${number}`);
  }

  completed(...numbers: readonly number[]): this {
    return this.receive(...numbers.map((number) => anOutcome(this.plan(number))));
  }

  expectReplayed(): void {
    expect(contentOf(replayLog(key, this, defaultSettings))).toEqual(contentOf(this.state));
  }
}

function contentOf(state: ServiceState) {
  const { service, endpoints, topology, snapshot, orphaned, tombstones } = state;
  const controllers = decisionOrder.map((controller) => {
    const {
      inFlight,
      trackers: { triggers },
      trackers: { hints },
      trackers: { tracked },
      trackers: { counted },
      retries: { failures },
      retries: { parked },
    } = state.controller(controller);
    const plan = inFlight && { ...inFlight, redeliverAt: undefined };
    return { controller, plan, triggers, hints, tracked, counted, failures, parked };
  });
  const [pods, slices] = [new Map(state.pods), new Map(state.slices)];
  return { service, endpoints, topology, snapshot, orphaned, tombstones, pods, slices, controllers };
}

const service: Fact = { kind: 'service', service: aService() };
const snapshot = aSnapshot(1, [service, fact.pod('p')], { endpoints: '9', endpointslices: '9' });
const started = () => new Recorded().receive(snapshot).decide();

describe('a replayed log gives the state', () => {
  test('with plans in flight', () => {
    started().expectReplayed();
    started()
      .receive(aChange(2, [fact.pod('q')]))
      .decide()
      .expectReplayed();
  });

  test('with plans that are completed, and decided again', () => {
    const recorded = started()
      .completed(1, 2)
      .receive(aChange(2, [fact.pod('q')]));
    recorded.decide().completed(3, 4).expectReplayed();
    expect(recorded.mutations).toHaveLength(4);
  });

  test('after decisions without a plan, which advance the trackers', () => {
    const later = aPod('p', { readyTransitionTime: '2026-01-01T00:09:00Z' });
    const recorded = started()
      .completed(1, 2)
      .receive(aChange(2, [{ kind: 'pod', name: 'p', pod: later, node: { zone: 'a' } }]))
      .decide();
    expect(recorded.state.controller('endpointslice').trackers.triggers?.pods.p).toBe('2026-01-01T00:09:00Z');
    recorded.expectReplayed();
  });

  test('if several Changes were decided at once', () => {
    started()
      .completed(1, 2)
      .receive(aChange(2, [fact.pod('q')]), aChange(3, [fact.podGone('p')]), aChange(4, [fact.pod('r')]))
      .decide()
      .expectReplayed();
  });

  test('with a plan that was decided before the Outcome of another controller arrived', () => {
    started()
      .completed(2)
      .receive(aChange(2, [fact.pod('q')]))
      .decide(['endpoints'])
      .completed(1)
      .expectReplayed();
  });

  test('if the log has an Outcome before the Change on which its plan was decided', () => {
    const recorded = started()
      .completed(1, 2)
      .receive(aChange(2, [fact.pod('q')]));
    recorded.decide().completed(3, 4);
    const [change] = recorded.changes.splice(3, 1);
    recorded.changes.push(...(change ? [change] : []));
    recorded.expectReplayed();
  });

  test('that other settings have led to, which its plans say', () => {
    const settings = { ...defaultSettings, maxEndpointsPerSlice: 1, maxAttempts: 1 };
    const recorded = new Recorded(settings).receive(aSnapshot(1, [service, fact.pod('p'), fact.pod('q')])).decide();
    recorded.receive(anOutcome(recorded.plan(1), { status: 'unavailable', results: [] })).expectReplayed();
    const {
      trackers: { counted },
      retries: { parked },
    } = recorded.state.controller('endpointslice');
    expect([counted?.desiredSlices, parked !== null]).toEqual([2, true]);
  });

  test('with a plan that was published twice', () => {
    const recorded = started();
    recorded.mutations.splice(1, 0, recorded.plan(1));
    const { inFlight } = replayLog(key, recorded, defaultSettings).controller('endpointslice');
    expect(inFlight).toMatchObject({ redeliveries: 1, message: { plan: { number: 1 } } });
  });

  test('of a Service that is gone and comes back', () => {
    const recorded = started()
      .completed(1, 2)
      .receive(aChange(2, [fact.noService]));
    recorded.decide();
    recorded.completed(...recorded.mutations.slice(2).map((_, index) => index + 3));
    const deletions = [...recorded.state.slices.values()].map(({ slice: { metadata } }): Fact => {
      return { kind: 'slice', name: metadata.name, uid: metadata.uid ?? '', slice: null };
    });
    const reported = recorded.state.tombstones.map(({ uid }) => fact.endpointsGone(uid));
    recorded.receive(aChange(3, [...reported, ...deletions])).decide();
    const gone = replayLog(key, recorded, defaultSettings);
    expect(contentOf(gone)).toEqual(contentOf(initialState(key)));
    const again = aSnapshot(4, [service, fact.pod('p')]);
    const fresh = new Recorded().receive(again);
    expect(contentOf(replayLog(key, recorded.receive(again), defaultSettings))).toEqual(contentOf(fresh.state));
  });
});
