import { z } from 'zod';

/** Schemas of the stored fields by kind. Objects of the cluster and plans are checked as the messages that carried them. */

const number = z.number();
const stamp = z.object({ epoch: number, sequence: number });
const resourceVersions = z.object({ endpoints: z.string(), endpointslices: z.string() });
const numbers = z.record(z.string(), number);
const texts = z.record(z.string(), z.string());
const object = z.unknown();

const unwatched = z.array(z.string()).optional();
const triggers = z.object({ service: z.string().nullable(), pods: texts, since: texts.optional() });
const hints = z.object({ populated: z.boolean(), byAddressType: z.record(z.string(), numbers) });

const inFlight = z.object({
  message: object,
  triggersAfter: triggers.nullable(),
  hintsAfter: hints.nullable(),
  watchEchoes: texts,
  redeliverAt: number,
  redeliveries: number,
});

const controller = z.object({
  dueAt: number.nullable(),
  cooldownUntil: number.optional(),
  topologyDueAt: number.optional(),
  batch: z
    .object({ until: number, maxWaitMs: number, appliedAt: number, changesPerMs: number, writeMs: number })
    .optional(),
  causes: z.object({ first: z.array(z.object({ description: z.string(), observedAt: number })), more: number }),
  inFlight: inFlight.nullable(),
  failures: number,
  retryAfterMs: number.optional(),
  delayedUntil: number.nullable(),
  repairAt: number.nullable(),
  foreignWrites: z.object({ count: number, slice: z.string(), at: number, unrepaired: z.boolean() }).optional(),
  repairing: z.boolean(),
  repairs: number,
  parked: z.string().nullable(),
  parkedSince: number.nullable(),
  released: z.boolean().optional(),
  compaction: z.object({ maxWrites: number, onlyWorthwhile: z.boolean(), expiresAt: number }).optional(),
  unconfirmedCreates: z.object({ epoch: number, number, taken: z.array(z.string()).optional() }).optional(),
  triggers: triggers.nullable(),
  hints: hints.nullable(),
  tracked: numbers,
  counted: z
    .object({
      endpoints: number,
      slices: number,
      desiredSlices: number,
      hinting: z.object({ topology: z.string(), trafficDistribution: z.string() }).nullable(),
    })
    .nullable(),
});

export const storedSchemas: Readonly<Record<string, z.ZodType>> = {
  service: z.object({ service: object, stamp }),
  pod: z.object({ pod: object, node: object, stamp }),
  slice: z.object({ slice: object, stamp: stamp.nullable() }),
  endpoints: z.object({ endpoints: object, stamp: stamp.nullable() }),
  topology: z.object({ zoneRatios: numbers.nullable(), nodesByZone: numbers }),
  snapshot: z.object({
    open: z.object({ since: stamp, initial: z.boolean(), resourceVersions, unwatched }).nullable(),
    complete: z.boolean(),
    unwatched,
    stamp,
    resourceVersions,
  }),
  orphaned: z.boolean(),
  tombstones: z.array(
    z.object({ uid: z.string(), resourceVersion: z.string().optional(), reportedAt: number.optional() }),
  ),
  controller,
};
