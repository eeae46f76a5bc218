import { isController } from '@sluice/controllers';
import { z } from 'zod';

/**
 * Schema of each message. Objects that are written back to a cluster (slices, Endpoints) are validated only where decisions
 * read them; other objects are validated completely. Objects of facts keep unknown fields: during an upgrade, a newer watcher
 * publishes more than an older reconciler knows, and its digest covers that too.
 */

const strings = z.record(z.string(), z.string());
const index = z.int().nonnegative();

const key = z.object({ cluster: z.string().min(1), namespace: z.string().min(1), service: z.string().min(1) });
const stamp = z.object({ epoch: index, sequence: index });
const planId = z.object({ epoch: index, number: index });
const controller = z.string().refine(isController, 'is no registered controller');
const writtenResource = z.enum(['endpoints', 'endpointslices']);
const causes = z.object({
  first: z.array(z.object({ description: z.string(), observedAt: z.number() })),
  more: index,
  traces: z.array(z.string().min(55).max(568)).optional(),
});

const meta = z.looseObject({
  name: z.string(),
  namespace: z.string(),
  uid: z.string().optional(),
  resourceVersion: z.string().optional(),
  generation: z.number().optional(),
  labels: strings.optional(),
  annotations: strings.optional(),
  ownerReferences: z.array(z.looseObject({ kind: z.string(), name: z.string(), uid: z.string() })).optional(),
});

const slice = z.looseObject({
  metadata: meta,
  // Not an enumeration: a newer API server may know more address types, and their slices are deleted (E12).
  addressType: z.string(),
  endpoints: z.array(z.looseObject({ addresses: z.array(z.string()) })).nullish(),
  ports: z.array(z.looseObject({ port: z.number().nullish() })).nullish(),
});

const addresses = z.array(z.looseObject({ ip: z.string() })).nullish();
const endpoints = z.looseObject({
  metadata: meta,
  subsets: z
    .array(
      z.looseObject({
        addresses,
        notReadyAddresses: addresses,
        ports: z.array(z.looseObject({ port: z.number() })).nullish(),
      }),
    )
    .nullish(),
});

const service = z.looseObject({
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  creationTimestamp: z.string(),
  deleting: z.boolean(),
  labels: strings,
  annotations: strings,
  type: z.string(),
  selector: strings.nullable(),
  clusterIP: z.string(),
  ipFamilies: z.array(z.string()),
  ports: z.array(
    z.looseObject({
      name: z.string(),
      protocol: z.string(),
      port: z.number(),
      targetPort: z.union([z.number(), z.string()]),
      appProtocol: z.string().nullable(),
    }),
  ),
  publishNotReadyAddresses: z.boolean(),
  trafficDistribution: z.string().nullable(),
  internalTrafficPolicy: z.string().optional(),
  externalTrafficPolicy: z.string().optional(),
});

const pod = z.looseObject({
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  ip: z.string(),
  ips: z.array(z.string()),
  nodeName: z.string(),
  hostname: z.string(),
  subdomain: z.string(),
  terminal: z.boolean(),
  terminating: z.boolean(),
  ready: z.boolean(),
  readyTransitionTime: z.string().nullable(),
  unready: z.looseObject({ status: z.string(), reason: z.string(), message: z.string() }).optional(),
  ports: z.array(z.looseObject({ name: z.string(), protocol: z.string(), containerPort: z.number() })),
  details: z
    .looseObject({
      owner: z.string(),
      disruption: z.string(),
      gracePeriodSeconds: z.number(),
      preStop: z.array(z.string()),
      containers: z.array(z.string()),
      unscheduled: z.string().optional(),
    })
    .optional(),
});

const fact = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('service'),
    service: service.nullable(),
    similarPods: z.object({ label: z.string(), pods: z.number(), namespace: z.string().optional() }).optional(),
  }),
  z.object({
    kind: z.literal('pod'),
    name: z.string().min(1),
    pod: pod.nullable(),
    node: z.looseObject({ zone: z.string(), condition: z.string().optional() }).nullable(),
  }),
  z.object({
    kind: z.literal('endpoints'),
    endpoints: endpoints.nullable(),
    uid: z.string(),
    manager: z.string().optional(),
  }),
  z.object({
    kind: z.literal('slice'),
    name: z.string().min(1),
    slice: slice.nullable(),
    uid: z.string(),
    relabelled: z.literal(true).optional(),
    labelledFor: z.string().optional(),
    manager: z.string().optional(),
  }),
  z.object({
    kind: z.literal('topology'),
    topology: z.looseObject({}).nullable(),
    hintedServices: index.optional(),
  }),
]);

const versions = z.object({ endpoints: z.string(), endpointslices: z.string() });

const reference = z.object({ name: z.string(), uid: z.string(), resourceVersion: z.string() });
const digest = z.object({
  version: index,
  service: z.string(),
  pods: z.string(),
  topology: z.string(),
  endpoints: z.array(reference),
  slices: z.array(reference),
});

export const changeSchema = z.object({
  kind: z.literal('change'),
  key,
  stamp,
  previousSequence: z.number().optional(),
  previousEpoch: index.optional(),
  facts: z.array(fact),
  resourceVersions: versions.optional(),
  snapshot: z
    .object({
      first: z.boolean(),
      last: z.boolean(),
      initial: z.boolean(),
      resourceVersions: versions,
      unwatched: z.array(z.string()).optional(),
    })
    .optional(),
  unpublishable: z.string().optional(),
  digest: digest.optional(),
  causes,
});

const mutation = z.discriminatedUnion('verb', [
  z.discriminatedUnion('resource', [
    z.object({ verb: z.literal('create'), resource: z.literal('endpoints'), object: endpoints }),
    z.object({ verb: z.literal('create'), resource: z.literal('endpointslices'), object: slice }),
  ]),
  z.discriminatedUnion('resource', [
    z.object({ verb: z.literal('update'), resource: z.literal('endpoints'), object: endpoints }),
    z.object({ verb: z.literal('update'), resource: z.literal('endpointslices'), object: slice }),
  ]),
  z.object({
    verb: z.literal('delete'),
    resource: writtenResource,
    name: z.string().min(1),
    uid: z.string().optional(),
    resourceVersion: z.string().optional(),
    unsupportedAddressType: z.boolean().optional(),
  }),
]);

const podEvidence = { name: z.string().min(1), uid: z.string() };
const removalEvidence = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('service') }),
  z.object({ kind: z.literal('pod'), ...podEvidence }),
  z.object({ kind: z.literal('readiness'), ...podEvidence }),
  z.object({ kind: z.literal('node'), name: z.string().min(1) }),
  z.object({ kind: z.literal('endpoints') }),
]);

const additionEvidence = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('pod'), ...podEvidence, address: z.string() }),
  z.object({ kind: z.literal('endpoints'), address: z.string() }),
]);

const loggedSettings = z
  .object({
    controllers: z.array(controller),
    maxEndpointsPerSlice: z.int().positive(),
    maxEndpointsPerSubset: z.int().positive(),
    batchPeriodMs: z.record(controller, z.number().nonnegative()),
    batching: z.object({ freshnessTargetMs: z.number().nonnegative(), watchers: index }).nullable(),
    backoff: z.object({ baseMs: z.number().nonnegative(), maxMs: z.number().nonnegative() }),
    maxAttempts: index,
    parkedRetryMs: z.number().nonnegative().nullable(),
  })
  .partial();

export const plannedMutationsSchema = z.object({
  kind: z.literal('mutations'),
  key,
  controller,
  plan: planId,
  groups: z.array(z.object({ mutations: z.array(mutation) })),
  events: z.array(
    z.object({
      type: z.enum(['Normal', 'Warning']),
      reason: z.string(),
      message: z.string(),
      regarding: z.object({
        kind: z.enum(['Service', 'Endpoints']),
        namespace: z.string(),
        name: z.string(),
        uid: z.string().optional(),
      }),
    }),
  ),
  incomplete: z.array(z.string()),
  serviceUid: z.string(),
  ready: z
    .object({
      delta: z.int(),
      total: z.number(),
      repeated: z.literal(true).optional(),
      released: z.literal(true).optional(),
      evidence: z.array(removalEvidence).optional(),
      added: z.object({ count: index, evidence: z.array(additionEvidence) }).optional(),
    })
    .optional(),
  consecutiveRepairs: z.int().positive().optional(),
  compaction: z.object({ removed: index, moved: index }).optional(),
  causes,
  basis: z.object({ stamp, inFlight: z.array(index), settings: loggedSettings.optional() }).optional(),
  decidedAt: z.number(),
});

export const outcomeSchema = z.object({
  kind: z.literal('outcome'),
  key,
  controller,
  plan: planId,
  status: z.enum(['applied', 'conflict', 'unavailable', 'namespaceTerminating', 'rejected']),
  results: z.array(
    z.object({
      group: index,
      index,
      verb: z.enum(['create', 'update', 'delete']),
      resource: writtenResource,
      name: z.string(),
      status: z.enum(['applied', 'failed']),
      stored: z
        .object({
          uid: z.string(),
          resourceVersion: z.string(),
          generation: z.number(),
          creationTimestamp: z.string().optional(),
        })
        .optional(),
      current: z.union([slice, endpoints]).nullish(),
      error: z.string().optional(),
    }),
  ),
  message: z.string(),
  causes,
  decidedAt: z.number(),
  startedAt: z.number().optional(),
  completedAt: z.number(),
  retries: index,
  retryAfterMs: z.number().nonnegative().optional(),
  cooldownMs: z.number().nonnegative().optional(),
  heldBack: z.literal(true).optional(),
});

export const resyncRequestSchema = z.object({
  kind: z.literal('resync'),
  scope: z.union([
    z.object({ partition: index, cluster: z.string().optional() }),
    z.object({ key }),
    z.object({ restoredCluster: z.string().min(1), stamp }),
  ]),
  reason: z.string(),
});

export const removalReleaseSchema = z.object({ kind: z.literal('release'), key, releasedAt: z.number() });

export const compactionRequestSchema = z.object({
  kind: z.literal('compaction'),
  key,
  reason: z.string(),
  requestedAt: z.number(),
  maxWrites: z.int().positive(),
  onlyWorthwhile: z.boolean(),
});

export const clusterRemovedSchema = z.object({
  kind: z.literal('clusterRemoved'),
  cluster: z.string().min(1),
  epoch: index,
  removedAt: z.number().optional(),
});
