import {
  type ClusterRemoved,
  comparePlans,
  isServiceKey,
  type Message,
  type PlanId,
  parseServiceKey,
} from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { getOrCreate } from '@sluice/platform';
import { isDisposable } from './due.ts';
import { evolve, initialState, type ServiceMessage } from './evolve.ts';
import { stateBefore } from './replay-log.ts';
import type { FieldChange, ServiceState } from './service-state.ts';
import { defaultSettings, type Settings } from './settings.ts';

/** What a message changed, and the state of the Service after it. */
export interface AppliedMessage {
  readonly state: ServiceState;
  readonly changes: readonly FieldChange[];
}

/** The states of all Services of a log, as reconcilers keep them. */
export class ServiceStates {
  readonly #settings: Settings;
  readonly #states = new Map<string, ServiceState>();
  /** The last plan of each controller with an Outcome, by formatted key of the Service. */
  readonly #completed = new Map<string, Map<Controller, PlanId>>();

  constructor(settings = defaultSettings) {
    this.#settings = settings;
  }

  /** Undefined for a message that is not about one Service. */
  apply(key: string, message: Message, now: number): AppliedMessage | undefined {
    if (message.kind === 'clusterRemoved') this.removeCluster(message);
    if (message.kind === 'clusterRemoved' || message.kind === 'resync' || !isServiceKey(key)) return undefined;
    const state = this.#stateFor(key, message, now);
    if (this.#isCompleted(key, message)) return { state, changes: [] };
    evolve(state, message, now, this.#settings);
    const changes = state.drainChanges();
    if (isDisposable(state, now)) this.remove(key);
    else this.#states.set(key, state);
    return { state, changes };
  }

  /** Whether this is a plan whose Outcome was applied before: plans and Outcomes are in different topics of a log. */
  #isCompleted(key: string, message: ServiceMessage): boolean {
    if (message.kind !== 'mutations' && message.kind !== 'outcome') return false;
    const { controller, plan } = message;
    const plans = getOrCreate(this.#completed, key, () => new Map<Controller, PlanId>());
    const last = plans.get(controller);
    const isNewer = last === undefined || comparePlans(plan, last) > 0;
    if (message.kind === 'mutations') return !isNewer;
    if (isNewer) plans.set(controller, plan);
    return false;
  }

  get(key: string): ServiceState | undefined {
    return this.#states.get(key);
  }

  /** Formatted keys. */
  get keys(): readonly string[] {
    return [...this.#states.keys()];
  }

  /** Forgets a Service, and returns what was known of it. */
  remove(key: string): ServiceState | undefined {
    const state = this.#states.get(key);
    this.#states.delete(key);
    this.#completed.delete(key);
    return state;
  }

  #stateFor(key: string, message: ServiceMessage, now: number): ServiceState {
    const state = this.#states.get(key) ?? initialState(parseServiceKey(key));
    return message.kind === 'change' ? stateBefore(state, message, now) : state;
  }

  /** Forgets the Services of a cluster, except those that a later watcher has published, and returns their formatted keys. */
  removeCluster({ cluster, epoch }: ClusterRemoved): readonly string[] {
    const removed = [...this.#states]
      .filter(([key, { snapshot }]) => key.startsWith(`${cluster}/`) && snapshot.stamp.epoch <= epoch)
      .map(([key]) => key);
    for (const key of removed) this.remove(key);
    return removed;
  }
}
