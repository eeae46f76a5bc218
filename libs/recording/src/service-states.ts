import { type ClusterRemoved, isServiceKey, type Message, parseServiceKey } from '@sluice/messages';
import {
  defaultSettings,
  evolve,
  type FieldChange,
  initialState,
  isDisposable,
  type ServiceMessage,
  type ServiceState,
  stateBefore,
} from '@sluice/service-state';

/** What a message changed, and the state of the Service after it. */
export interface AppliedMessage {
  readonly state: ServiceState;
  readonly changes: readonly FieldChange[];
}

/** The states of the Services that are recorded, as reconcilers keep them. */
export class ServiceStates {
  readonly #states = new Map<string, ServiceState>();

  /** Undefined for a message that is not about one Service. */
  apply(key: string, message: Message, now: number): AppliedMessage | undefined {
    if (message.kind === 'clusterRemoved') this.removeCluster(message);
    if (message.kind === 'clusterRemoved' || message.kind === 'resync' || !isServiceKey(key)) return undefined;
    const state = this.#stateFor(key, message, now);
    evolve(state, message, now, defaultSettings);
    const changes = state.drainChanges();
    if (isDisposable(state, now)) this.#states.delete(key);
    else this.#states.set(key, state);
    return { state, changes };
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
    for (const key of removed) this.#states.delete(key);
    return removed;
  }
}
