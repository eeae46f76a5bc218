import { type Outage, unidentified } from '@sluice/store';
import type { ClusterState } from './cluster.ts';

/** Which clusters of this process do not answer, from its watchers and from failed attempts to connect. */
export class ClusterOutages {
  readonly #outages = new Map<string, Outage>();

  /** Reports a served cluster; null: it answers. */
  set(identity: string, outage: Outage | null): void {
    if (outage === null) this.#outages.delete(identity);
    else this.#outages.set(identity, outage);
  }

  of(state: ClusterState): Outage | null {
    const { identity, phase } = state;
    if (isServed(phase)) return this.#outages.get(identity) ?? null;
    return phase === 'unavailable' ? outageOf(state) : null;
  }

  /** The state, in phase `unavailable` while a served cluster does not answer. */
  phaseOf(state: ClusterState): ClusterState {
    return isServed(state.phase) && this.of(state) !== null ? { ...state, phase: 'unavailable' } : state;
  }
}

/** Why a cluster has not been served since its first failed attempt to connect. */
export function outageOf({ since, reason, silence }: ClusterState): Outage | null {
  if (since === undefined) return null;
  const outage = { since, neverAnswered: true };
  return silence === undefined ? { ...outage, reason, answers: true } : { ...outage, reason: silence };
}

const isServed = (phase: ClusterState['phase']): boolean => phase === 'serving' || phase === 'paused';

/** The state of a cluster that has not answered yet gets an identity of its own, so that it can be shown. */
export const withIdentity = (state: ClusterState): ClusterState =>
  state.identity === '' ? { ...state, identity: unidentified(state.name) } : state;
