import { countAddresses, isOverloaded, readersOf } from '@sluice/controllers';
import { type Fact, formatServiceKey, hash32, type PlannedMutations, type Stamp } from '@sluice/messages';
import type { Mutation } from '@sluice/model';
import type { ServiceState } from './service-state.ts';

/** An API server needs a tenth of this CPU time to store an address. */
const msPerAddress = 0.25;
/** Fewer addresses are no load. */
const minAddresses = 100;

/** A plan that is applied within this time shows an API server with spare capacity. */
const promptMs = 20;
const maxForSlownessMs = 75;

/** More than the cooldown for size of any Service: Endpoints hold a thousand addresses at most, in several groups of ports. */
export const maxCooldownMs = 2_000;

/** What an Outcome says about the time of its plan, in milliseconds. */
export interface AppliedPlan {
  /** From decision to Outcome. */
  readonly tookMs: number;
  /** The cooldown that the writer asks for, because the API server is saturated. */
  readonly requestedMs: number;
}

/**
 * How long, in milliseconds, a controller leaves a Service alone after a plan.
 * Changes that arrive meanwhile become one plan; the first change after the cooldown is written at once (ADR 0023).
 *
 * For Endpoints it depends on size: each write carries all addresses, whereas a slice carries a hundred at most. For
 * everything it depends on how long the plan took: an API server at its limit only gets slower with a write per change.
 * The writer asks for a longer one if requests of the whole cluster are slow.
 */
export function writeCooldownMs(plan: Pick<PlannedMutations, 'groups'>, { tookMs, requestedMs }: AppliedPlan): number {
  const forSlowness = Math.min(maxForSlownessMs, Math.max(0, tookMs - promptMs));
  return Math.max(forSlowness, Math.min(requestedMs, maxCooldownMs), cooldownForSize(plan));
}

function cooldownForSize({ groups }: Pick<PlannedMutations, 'groups'>): number {
  const written = groups.reduce((sum, { mutations }) => mutations.reduce((n, m) => n + addressesIn(m), sum), 0);
  return written < minAddresses ? 0 : Math.round(written * msPerAddress);
}

function addressesIn(mutation: Mutation): number {
  if (mutation.verb === 'delete' || mutation.resource !== 'endpoints') return 0;
  return countAddresses(mutation.object.subsets ?? []);
}

/** Pace of the decisions for Services that are not overloaded, unless it would take longer than the maximum. */
const servicesPerSecond = 10;
export const maxTopologyDelayMs = 5 * 60_000;

/**
 * How long a Service waits before it adapts its hints to other zone ratios. An overloaded one does not wait (F14). The others
 * are spread over a period that follows from their number: upstream decides them with their next change, and most hints still
 * fit. The share of the period follows from the Service and the Change, so the delay is the same wherever the Change is applied,
 * and no Service is always first. The fact has not been applied yet.
 */
export function topologyDelayMs(state: ServiceState, fact: Extract<Fact, { kind: 'topology' }>, stamp: Stamp): number {
  for (const controller of readersOf('nodes')) {
    const { inFlight, trackers } = state.controller(controller);
    if (isOverloaded(inFlight === null ? trackers.hints : inFlight.hintsAfter, fact.topology)) return 0;
  }
  const periodMs = Math.min(maxTopologyDelayMs, ((fact.hintedServices ?? 0) * 1000) / servicesPerSecond);
  return Math.round(periodMs * fractionOf(`${formatServiceKey(state.key)} ${stamp.epoch}.${stamp.sequence}`));
}

/** From 0 to 1, evenly distributed. */
const fractionOf = (seed: string): number => hash32(seed) / 2 ** 32;
