import { checkMessage, type Fact, noCauses, parseServiceKey } from '@sluice/messages';
import { decisionOrder } from './decision-order.ts';
import { ServiceState } from './service-state.ts';
import { anything, flag, list, nullable, number, object, optional, record, type Shape, text } from './shape.ts';
import { joinParts, type StoredField } from './stored-form.ts';

const stamp = object({ epoch: number, sequence: number });
const resourceVersions = object({ endpoints: text, endpointslices: text });
const causes = object({ first: list(object({ description: text, observedAt: number })), more: number });
const triggers = object({ service: nullable(text), pods: record(text), since: optional(record(text)) });
const hints = object({ populated: flag, byAddressType: record(record(number)) });
const counted = object({
  ...{ endpoints: number, slices: number, desiredSlices: number },
  hinting: nullable(object({ topology: text, trafficDistribution: text })),
});
const inFlight = object({
  ...{ message: anything, triggersAfter: nullable(triggers), hintsAfter: nullable(hints), watchEchoes: record(text) },
  ...{ redeliverAt: number, redeliveries: number },
});

const batch = object({ until: number, maxWaitMs: number, appliedAt: number, changesPerMs: number, writeMs: number });

/** By kind of field. Objects of the cluster and plans are checked as the messages that carried them. */
const shapes: Readonly<Record<string, Shape>> = {
  service: object({ service: anything, stamp }),
  pod: object({ pod: anything, node: anything, stamp }),
  slice: object({ slice: anything, stamp: nullable(stamp) }),
  endpoints: object({ endpoints: anything, stamp: nullable(stamp) }),
  topology: object({ zoneRatios: nullable(record(number)), nodesByZone: record(number) }),
  snapshot: object({
    open: nullable(object({ since: stamp, initial: flag, resourceVersions })),
    ...{ complete: flag, stamp, resourceVersions },
  }),
  orphaned: flag,
  tombstones: list(object({ uid: text, resourceVersion: optional(text), reportedAt: optional(number) })),
  controller: object({
    ...{
      dueAt: nullable(number),
      cooldownUntil: optional(number),
      topologyDueAt: optional(number),
      batch: optional(batch),
      causes,
      inFlight: nullable(inFlight),
    },
    ...{
      failures: number,
      retryAfterMs: optional(number),
      delayedUntil: nullable(number),
      repairAt: nullable(number),
      repairing: flag,
      repairs: number,
    },
    ...{
      parked: nullable(text),
      parkedSince: nullable(number),
      released: optional(flag),
      unconfirmedCreates: optional(object({ epoch: number, number, taken: optional(list(text)) })),
      compaction: optional(object({ maxWrites: number, onlyWorthwhile: flag, expiresAt: number })),
      triggers: nullable(triggers),
    },
    foreignWrites: optional(object({ count: number, slice: text, at: number, unrepaired: flag })),
    ...{ hints: nullable(hints), tracked: record(number), counted: nullable(counted) },
  }),
};

/**
 * Loads the state of one Service from its stored fields.
 *
 * @throws Error that names the field, if one cannot be read
 */
export function loadState(key: string, fields: readonly StoredField[]): ServiceState {
  const state = new ServiceState(parseServiceKey(key));
  for (const stored of joinParts(fields)) {
    const { field, value } = stored;
    const shape = shapes[field.split('/', 1)[0] ?? ''];
    if (shape === undefined) throw new TypeError(`stored field ${field} is unknown`);
    const wrong = shape(value);
    if (wrong !== undefined) throw new TypeError(`stored field ${field}: ${wrong || 'the value'} is invalid`);
    state.load(stored);
  }
  checkObjects(state);
  return state;
}

/** Checks cluster objects and plans with the schemas of the messages that carried them. */
function checkObjects(state: ServiceState): void {
  const { key, service, endpoints } = state;
  const facts: Fact[] = [];
  if (service !== null) facts.push({ kind: 'service', service: service.service });
  if (endpoints !== null) facts.push({ kind: 'endpoints', endpoints: endpoints.endpoints, uid: '' });
  for (const [name, { pod, node }] of state.pods) facts.push({ kind: 'pod', name, pod, node });
  for (const [name, { slice }] of state.slices) facts.push({ kind: 'slice', name, slice, uid: '' });
  checkMessage({ kind: 'change', key, stamp: state.snapshot.stamp, facts, causes: noCauses });
  for (const controller of decisionOrder) {
    const { inFlight: plan } = state.controller(controller);
    if (plan !== null) checkMessage({ ...plan.message });
  }
}
