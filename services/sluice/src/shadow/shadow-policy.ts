import { isDeepStrictEqual } from 'node:util';
import type { Controller } from '@sluice/controllers';
import type { Fact } from '@sluice/messages';
import { type ReconcilerPolicy, requestDecision, type ServiceState } from '@sluice/service-state';
import { noticedBy } from '../replay/upstream/handlers.ts';
import type { ShadowLedger } from './ledger.ts';

/**
 * Decides as in a cluster that Sluice serves, but at once about what others write, since here everything is written by
 * others; and notes what upstream's handlers would make of each fact.
 */
export function shadowPolicy<F>(
  policy: ReconcilerPolicy,
  ledger: ShadowLedger<F>,
  now: () => number,
): ReconcilerPolicy {
  return {
    ...policy,
    affected(view, fact, retold) {
      // What a snapshot tells may be old, but for a Service that was not there.
      if (view.snapshot.open === null || isNewService(view, fact)) hear(ledger, view, fact, now());
      return policy.affected(view, fact, retold);
    },
    requestRepair: ({ state, now: at }, _batchPeriodMs, causes) => requestDecision(state, at, causes, at),
  };
}

function hear<F>(ledger: ShadowLedger<F>, view: ServiceState, fact: Fact, now: number): void {
  const noticed = noticedBy(view, fact, false);
  const told = (controller: Controller) => {
    if (noticed.has(controller)) ledger.noticed(view.key, controller, now);
    else ledger.overlooked(view.key, controller, now);
  };
  switch (fact.kind) {
    case 'service':
      ledger.exists(view.key, fact.service !== null);
      for (const controller of noticed) told(controller);
      return;
    case 'pod':
      told('endpoints');
      return told('endpointslice');
    case 'topology':
      return told('endpointslice');
    case 'endpoints':
      if (noticed.has('endpointslicemirroring')) told('endpointslicemirroring');
      if (noticed.has('endpoints')) told('endpoints');
      else if (isNews(view, fact)) ledger.edited(view.key, 'endpoints', now);
      return;
    case 'slice':
      // The genuine controllers look again at what somebody else did to a slice, and not at what they wrote (E4, H4).
      return;
  }
}

/** The first that is told of a Service is a snapshot too. */
function isNewService({ service }: ServiceState, fact: Fact): boolean {
  return fact.kind === 'service' && !isDeepStrictEqual(service?.service ?? null, fact.service);
}

function isNews({ endpoints }: ServiceState, fact: Extract<Fact, { kind: 'endpoints' }>): boolean {
  return endpoints?.endpoints.metadata.resourceVersion !== fact.endpoints?.metadata.resourceVersion;
}
