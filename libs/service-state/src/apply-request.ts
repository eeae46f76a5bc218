import { controllers, descriptorOf } from '@sluice/controllers';
import type { CompactionRequest, RemovalRelease } from '@sluice/messages';
import { requestDecision } from './controller-state.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/** A request that could not be met by then is dropped: its sender has counted on other slices. */
export const compactionExpiresAfterMs = 60_000;

/** Requests a decision that may compact the Service's slices. A parked key stays parked. */
export function applyCompactionRequest(
  state: ServiceState,
  { reason, requestedAt, maxWrites, onlyWorthwhile }: CompactionRequest,
  now: number,
  { controllers }: Settings,
): void {
  const causes = { first: [{ description: reason, observedAt: requestedAt }], more: 0 };
  const compaction = { maxWrites, onlyWorthwhile, expiresAt: now + compactionExpiresAfterMs };
  for (const controller of controllers) {
    const before = state.controller(controller);
    if (!descriptorOf(controller).compacts || before.retries.parked !== null) continue;
    const requests = { ...before.requests, compaction };
    state.setController(controller, { ...requestDecision(before, now, causes, now), requests });
  }
}

/** Decides parked keys at once and lets their next plan pass the guards against mass removals and additions. */
export function applyRelease(state: ServiceState, { releasedAt }: RemovalRelease, now: number): void {
  const causes = {
    first: [{ description: 'held-back change released by an operator', observedAt: releasedAt }],
    more: 0,
  };
  for (const controller of controllers) {
    const before = state.controller(controller);
    if (before.retries.parkedSince === null) continue;
    const requests = { ...before.requests, released: true as const };
    state.setController(controller, { ...requestDecision(before, now, causes, now), requests });
  }
}
