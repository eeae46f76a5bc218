import { isDeepStrictEqual } from 'node:util';
import { controllers, isMirrorable, isOverloaded } from '@sluice/controllers';
import type { Fact } from '@sluice/messages';
import type { Controller, Pod } from '@sluice/model';
import type { PodEntry, ServiceState } from '@sluice/service-state';

const all: ReadonlySet<Controller> = new Set(controllers);
const none: ReadonlySet<Controller> = new Set();
const ofPods: ReadonlySet<Controller> = new Set<Controller>(['endpoints', 'endpointslice']);
const ofNodes: ReadonlySet<Controller> = new Set<Controller>(['endpointslice']);

/** The upstream controllers react to edits of a slice by others, not to their own writes (E4, H4), and shadow mode sees both. */
export type ObservedFact = Exclude<Fact, { kind: 'slice' }>;

/** The controllers whose handlers would queue the Service for a fact that is not yet applied. */
export function noticedBy(view: ServiceState, fact: ObservedFact): ReadonlySet<Controller> {
  switch (fact.kind) {
    case 'service':
      return noticedService(view.service?.service ?? null, fact.service);
    case 'pod':
      return noticedPod(view.pods.get(fact.name), fact) ? ofPods : none;
    case 'topology':
      return isOverloaded(view.controller('endpointslice').trackers.hints, fact.topology) ? ofNodes : none;
    case 'endpoints':
      return noticedEndpoints(view, fact);
  }
}

type SelectorOf = { readonly selector: unknown } | null;

/** A Service always enqueues (D1, E1); for mirroring only without a selector, or if its selector was added or removed (H3). */
function noticedService(old: SelectorOf, now: SelectorOf): ReadonlySet<Controller> {
  if (old === null && now === null) return none;
  const without = (service: SelectorOf) => service !== null && service.selector === null;
  const mirroring = old !== null && now !== null ? without(old) !== without(now) : without(old) || without(now);
  return mirroring ? all : ofPods;
}

/**
 * A Service that keeps the Pod is enqueued only for relevant changes (C12–C14), and never for changes of its Node (E3).
 */
function noticedPod(known: PodEntry | undefined, { pod: now, node }: Extract<Fact, { kind: 'pod' }>): boolean {
  const old = known?.pod ?? null;
  if (old === null || now === null) return old !== now;
  if (!isDeepStrictEqual(known?.node, node) && isDeepStrictEqual(old, now)) return false;
  return podDiffers(old, now);
}

/** Endpoints enqueue their own controller only if deleted (D3), mirroring if they are mirrorable (H1). */
function noticedEndpoints(view: ServiceState, fact: Extract<Fact, { kind: 'endpoints' }>): ReadonlySet<Controller> {
  const noticed = new Set<Controller>();
  const old = view.endpoints?.endpoints;
  if (fact.endpoints === null && old !== undefined) noticed.add('endpoints');
  if ([old, fact.endpoints].some((endpoints) => endpoints && isMirrorable(endpoints))) {
    noticed.add('endpointslicemirroring');
  }
  return noticed;
}

/** Whether a Pod update concerns the Services that keep the Pod. Any update of a terminating Pod does (C12). */
export function podDiffers(old: Pod, now: Pod): boolean {
  if (old.terminating || now.terminating) return true;
  if (old.ready !== now.ready || old.ips.length !== now.ips.length) return true;
  return now.ips.some((ip, i) => ip !== old.ips[i]);
}
