import { isDeepStrictEqual } from 'node:util';
import type { Fact } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { type ReconcilerPolicy, requestDecision, type ServiceState } from '@sluice/service-state';
import type { DiffTracker } from './diff-tracker.ts';
import { noticedBy } from './upstream-handlers.ts';

/**
 * Decides as in a managed cluster, but reacts at once to writes by others, since in shadow mode every write is one; and
 * records for each fact whether the upstream event handlers would enqueue the Service.
 */
export function shadowPolicy<F>(
  policy: ReconcilerPolicy,
  tracker: DiffTracker<F>,
  now: () => number,
): ReconcilerPolicy {
  return {
    ...policy,
    // The plans are never written, so every write is foreign.
    provesByGeneration: false,
    affected(view, fact, resent) {
      // Facts in a snapshot may be old, except for a Service that is new.
      if (view.snapshot.open === null || isNewService(view, fact)) observe(tracker, view, fact, now());
      return policy.affected(view, fact, resent);
    },
    requestRepair: ({ state, now: at }, _batchPeriodMs, causes) => requestDecision(state, at, causes, at),
  };
}

function observe<F>(tracker: DiffTracker<F>, view: ServiceState, fact: Fact, now: number): void {
  if (fact.kind === 'slice') return;
  const noticed = noticedBy(view, fact);
  const report = (controller: Controller) => {
    if (noticed.has(controller)) tracker.noticed(view.key, controller, now);
    else tracker.overlooked(view.key, controller, now);
  };
  switch (fact.kind) {
    case 'service':
      tracker.exists(view.key, fact.service !== null);
      for (const controller of noticed) report(controller);
      return;
    case 'pod':
      report('endpoints');
      return report('endpointslice');
    case 'topology':
      return report('endpointslice');
    case 'endpoints':
      if (noticed.has('endpointslicemirroring')) report('endpointslicemirroring');
      if (noticed.has('endpoints')) report('endpoints');
      else if (isNews(view, fact)) tracker.edited(view.key, 'endpoints', now);
      return;
  }
}

/** The first change of a Service is a snapshot too. */
function isNewService({ service }: ServiceState, fact: Fact): boolean {
  return fact.kind === 'service' && !isDeepStrictEqual(service?.service ?? null, fact.service);
}

function isNews({ endpoints }: ServiceState, fact: Extract<Fact, { kind: 'endpoints' }>): boolean {
  return endpoints?.endpoints.metadata.resourceVersion !== fact.endpoints?.metadata.resourceVersion;
}
