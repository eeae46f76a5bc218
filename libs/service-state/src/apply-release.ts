import { controllers } from '@sluice/controllers';
import type { RemovalRelease } from '@sluice/messages';
import { requestDecision } from './controller-state.ts';
import type { ServiceState } from './service-state.ts';

/** Decides parked keys at once and lets their next plan pass the guards against mass removals and additions. */
export function applyRelease(state: ServiceState, { releasedAt }: RemovalRelease, now: number): void {
  const causes = {
    first: [{ description: 'held-back change released by an operator', observedAt: releasedAt }],
    more: 0,
  };
  for (const controller of controllers) {
    const before = state.controller(controller);
    if (before.parkedSince === null) continue;
    state.setController(controller, { ...requestDecision(before, now, causes, now), released: true });
  }
}
