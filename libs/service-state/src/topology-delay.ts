import { isOverloaded, readersOf } from '@sluice/controllers';
import { type Fact, formatServiceKey, hash32, type Stamp } from '@sluice/messages';
import type { ServiceState } from './service-state.ts';

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
    const { hints, inFlight } = state.controller(controller);
    if (isOverloaded(inFlight === null ? hints : inFlight.hintsAfter, fact.topology)) return 0;
  }
  const periodMs = Math.min(maxTopologyDelayMs, ((fact.hintedServices ?? 0) * 1000) / servicesPerSecond);
  return Math.round(periodMs * fractionOf(`${formatServiceKey(state.key)} ${stamp.epoch}.${stamp.sequence}`));
}

/** From 0 to 1, evenly distributed. */
const fractionOf = (seed: string): number => hash32(seed) / 2 ** 32;
