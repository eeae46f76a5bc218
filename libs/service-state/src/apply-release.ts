import { controllers } from '@sluice/controllers';
import type { RemovalRelease } from '@sluice/messages';
import { requestDecision } from './controller-state.ts';
import type { ServiceState } from './service-state.ts';

/** What is given up for the Service is decided at once, and may remove what it likes. */
export function applyRelease(view: ServiceState, { releasedAt }: RemovalRelease, now: number): void {
  const causes = { first: [{ description: 'a person let a removal go', observedAt: releasedAt }], more: 0 };
  for (const controller of controllers) {
    const state = view.controller(controller);
    if (state.parkedSince === null) continue;
    view.setController(controller, { ...requestDecision(state, now, causes, now), released: true });
  }
}
