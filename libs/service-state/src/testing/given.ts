import { decisionOrder } from '@sluice/controllers';
import { formatServiceKey, type PlannedMutations } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { expect } from 'vitest';
import { type Decision, decide, planOf } from '../decide.ts';
import { nextDueAt } from '../due.ts';
import { evolve, initialState, type ServiceMessage } from '../evolve.ts';
import { loadState } from '../load-state.ts';
import type { ServiceState } from '../service-state.ts';
import { defaultSettings, type Settings } from '../settings.ts';
import type { StoredField } from '../stored-form.ts';
import { anOutcome, key } from './messages.ts';

/** The time of `given` unless another one is named, in milliseconds since the Unix epoch. */
export const startTime = 1_000_000;

/** What a plan does, as its verbs by controller: `{ endpointslice: ['create'], endpoints: ['create'] }`. */
export type ExpectedPlans = Partial<Record<Controller, readonly string[]>>;

interface Options {
  /** When the messages arrive. Default: at the time of the last step. */
  readonly at?: number;
  readonly settings?: Settings;
}

/**
 * Describes a Service's history and what follows from it:
 *
 *     given(aSnapshot(1, [service, fact.pod('p')])).when().thenPlans({ endpointslice: ['create'], endpoints: ['create'] });
 *
 * `messages` may be a recorded history, such as the records of the topics `changes` and `mutations` in their order.
 */
export function given(messages: ServiceMessage | readonly ServiceMessage[], options: Options = {}): Given {
  const { at = startTime, settings = defaultSettings } = options;
  const [first] = messagesOf(messages);
  return new Given(initialState(first?.key ?? key), settings, at, 1).and(messages);
}

class Given {
  readonly state: ServiceState;
  protected readonly settings: Settings;
  protected readonly now: number;
  protected readonly nextNumber: number;

  constructor(state: ServiceState, settings: Settings, now: number, nextNumber: number) {
    this.state = state;
    this.settings = settings;
    this.now = now;
    this.nextNumber = nextNumber;
    checkStored(state);
  }

  /** More messages, which arrive at `at`. */
  and(messages: ServiceMessage | readonly ServiceMessage[], at = this.now): Given {
    for (const message of messagesOf(messages)) evolve(this.state, message, at, this.settings);
    return new Given(this.state, this.settings, at, this.nextNumber);
  }

  /** Whatever is due at `at` is decided. */
  when(at = this.now): Decided {
    const { state, settings } = this;
    const decisions: Decision[] = [];
    let number = this.nextNumber;
    for (const controller of decisionOrder) {
      const decision = decide(state, controller, at, { settings, nextPlan: { epoch: 1, number } });
      if (decision === null) continue;
      if (decision.kind === 'planned') number++;
      evolve(state, decision, at, settings);
      decisions.push(decision);
    }
    return new Decided(state, settings, at, decisions, number);
  }

  /** When the Service is due next; null: only a message makes it due. */
  thenDueAt(at: number | null): this {
    expect(nextDueAt(this.state, this.now)).toBe(at);
    return this;
  }
}

class Decided extends Given {
  readonly decisions: readonly Decision[];

  constructor(
    state: ServiceState,
    settings: Settings,
    now: number,
    decisions: readonly Decision[],
    nextNumber: number,
  ) {
    super(state, settings, now, nextNumber);
    this.decisions = decisions;
  }

  /** The plan of a controller; fails if there is none. */
  plan(controller: Controller): PlannedMutations {
    const plan = this.#plans().get(controller);
    if (plan === undefined) return expect.unreachable(`no plan of ${controller}`);
    return plan;
  }

  /** These controllers made or redelivered plans with these verbs; the others did not. */
  thenPlans(expected: ExpectedPlans): this {
    const plans: Partial<Record<Controller, readonly string[]>> = {};
    for (const [controller, plan] of this.#plans()) plans[controller] = verbsOf(plan);
    expect(plans).toEqual(expected);
    return this;
  }

  thenNothing(): this {
    return this.thenPlans({});
  }

  #plans(): ReadonlyMap<Controller, PlannedMutations> {
    const plans = this.decisions.flatMap((decision) => {
      const { controller } = decision;
      const again = decision.kind === 'redelivered' ? this.state.controller(controller).inFlight?.message : undefined;
      const plan = planOf(decision) ?? again;
      return plan === undefined ? [] : [[controller, plan] as const];
    });
    return new Map(plans);
  }

  /** The API server applies all plans in flight; the Outcomes arrive at `at`. */
  applied(at = this.now): Given {
    for (const controller of decisionOrder) {
      const { inFlight } = this.state.controller(controller);
      if (inFlight !== null) evolve(this.state, anOutcome(inFlight.message), at, this.settings);
    }
    return new Given(this.state, this.settings, at, this.nextNumber);
  }
}

function verbsOf({ groups }: PlannedMutations): readonly string[] {
  return groups.flatMap(({ mutations }) => mutations.map(({ verb }) => verb));
}

function messagesOf(messages: ServiceMessage | readonly ServiceMessage[]): readonly ServiceMessage[] {
  return 'kind' in messages ? [messages] : messages;
}

/** What a store has of a state after a commit at each step. */
const stored = new WeakMap<ServiceState, Map<string, StoredField>>();

/** A new owner that loads the state from the store has the same one. */
function checkStored(state: ServiceState): void {
  const key = formatServiceKey(state.key);
  const fields = stored.get(state) ?? new Map<string, StoredField>();
  stored.set(state, fields);
  for (const { field, value } of state.drainStoredFields(key)) {
    if (value === undefined) fields.delete(field);
    else fields.set(field, { key, field, value: JSON.parse(JSON.stringify(value)) });
  }
  expect(contentOf(loadState(key, [...fields.values()]))).toEqual(contentOf(state));
}

function contentOf(state: ServiceState) {
  const { key, service, endpoints, topology, snapshot, orphaned, tombstones } = state;
  const controllers = decisionOrder.map((controller) => [controller, state.controller(controller)]);
  const [pods, slices] = [new Map(state.pods), new Map(state.slices)];
  return { key, service, endpoints, topology, snapshot, orphaned, tombstones, pods, slices, controllers };
}
