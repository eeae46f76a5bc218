import type { PublishedResourceVersions, Stamp } from '@sluice/messages';
import type { NodeTopology } from '@sluice/model';
import { z } from 'zod';
import type { ControllerState, Repairs, Requests, Timers, Trackers } from './controller-state.ts';
import type { EndpointsEntry, PodEntry, ServiceEntry, SliceEntry, SnapshotState } from './service-state.ts';
import type { Tombstone } from './tombstones.ts';

/**
 * Schemas of the stored fields by kind. The compiler checks that each has all fields of its type. Objects of the cluster and
 * plans are checked as the messages that carried them.
 */

const objectOf = <T>(shape: { readonly [K in keyof Required<NonNullable<T>>]: z.ZodType<NonNullable<T>[K]> }) =>
  z.object(shape) as unknown as z.ZodType<NonNullable<T>>;

const number = z.number();
const text = z.string();
const numbers = z.record(text, number);
const texts = z.record(text, text);
const object = z.any();
const stamp = objectOf<Stamp>({ epoch: number, sequence: number });
const resourceVersions = objectOf<PublishedResourceVersions>({ endpoints: text, endpointslices: text });
const unwatched = z.array(text).optional();
const triggers = objectOf<Trackers['triggers']>({
  service: text.nullable(),
  pods: texts,
  since: texts.optional(),
}).nullable();
const hints = z.object({ populated: z.boolean(), byAddressType: z.record(text, numbers) }).nullable();
const causes = z.object({ first: z.array(z.object({ description: text, observedAt: number })), more: number });

const timers = objectOf<Timers>({
  dueAt: number.nullable(),
  delayedUntil: number.nullable(),
  cooldownUntil: number.optional(),
  topologyDueAt: number.optional(),
  batch: z
    .object({ until: number, maxWaitMs: number, appliedAt: number, changesPerMs: number, writeMs: number })
    .optional(),
});

const retries = objectOf<ControllerState['retries']>({
  failures: number,
  retryAfterMs: number.optional(),
  heldBack: z.boolean().optional(),
  parked: text.nullable(),
  parkedSince: number.nullable(),
});

const repairs = objectOf<Repairs>({
  repairAt: number.nullable(),
  repairing: z.boolean(),
  count: number,
  foreignWrites: z.object({ count: number, slice: text, at: number, unrepaired: z.boolean() }).optional(),
});

const requests = objectOf<Requests>({
  released: z.literal(true).optional(),
  compaction: z.object({ maxWrites: number, onlyWorthwhile: z.boolean(), expiresAt: number }).optional(),
});

const trackers = objectOf<Trackers>({
  triggers,
  hints,
  tracked: numbers,
  counted: z
    .object({
      endpoints: number,
      slices: number,
      desiredSlices: number,
      hinting: z.object({ topology: z.enum(['Auto', 'Disabled']), trafficDistribution: text }).nullable(),
    })
    .nullable(),
});

const inFlight = objectOf<ControllerState['inFlight']>({
  message: object,
  triggersAfter: triggers,
  hintsAfter: hints,
  watchEchoes: texts,
  redeliverAt: number,
  redeliveries: number,
  trace: object.optional(),
});

export const storedSchemas: Readonly<Record<string, z.ZodType>> = {
  service: objectOf<ServiceEntry>({ service: object, stamp }),
  pod: objectOf<PodEntry>({ pod: object, node: object, stamp }),
  slice: objectOf<SliceEntry>({ slice: object, stamp: stamp.nullable() }),
  endpoints: objectOf<EndpointsEntry>({ endpoints: object, stamp: stamp.nullable() }),
  topology: objectOf<NodeTopology>({ zoneRatios: numbers.nullable(), nodesByZone: numbers }),
  snapshot: objectOf<SnapshotState>({
    open: z.object({ since: stamp, initial: z.boolean(), resourceVersions, unwatched }).nullable(),
    complete: z.boolean(),
    partial: z.literal(true).optional(),
    unwatched,
    stamp,
    resourceVersions,
  }),
  orphaned: z.boolean(),
  tombstones: z.array(
    z.union([
      objectOf<Extract<Tombstone, { resourceVersion: string }>>({ uid: text, resourceVersion: text }),
      objectOf<Extract<Tombstone, { reportedAt: number }>>({ uid: text, reportedAt: number }),
    ]),
  ),
  controller: objectOf<ControllerState>({
    timers,
    retries,
    repairs,
    requests,
    trackers,
    causes,
    inFlight: inFlight.nullable(),
    unconfirmedCreates: objectOf<ControllerState['unconfirmedCreates']>({
      epoch: number,
      number,
      taken: z.array(text).optional(),
    }).optional(),
  }),
};
