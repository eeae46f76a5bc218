import type { WrittenResource } from '@sluice/model';
import {
  boolean,
  type Field,
  integer,
  internedMessage,
  intOrString,
  keptBoolean,
  keptInteger,
  keptText,
  type MessageType,
  many,
  nullableMany,
  one,
  projectionOf,
  quantityMap,
  readOnlyMany,
  stringMap,
  text,
  texts,
  time,
  wholeMessage,
} from './message-type.ts';

// Field numbers of `k8s.io/api` (core/v1, discovery/v1) and `k8s.io/apimachinery` (meta/v1). Kubernetes never reuses a
// number within an API version.

const ownerReference = wholeMessage({
  1: text('kind'),
  3: text('name'),
  4: text('uid'),
  5: text('apiVersion'),
  6: keptBoolean('controller'),
  7: keptBoolean('blockOwnerDeletion'),
});

const metadata = {
  1: text('name'),
  2: text('generateName'),
  3: text('namespace'),
  4: text('selfLink'),
  5: text('uid'),
  6: text('resourceVersion'),
  7: integer('generation'),
  8: time('creationTimestamp'),
  9: time('deletionTimestamp'),
  10: keptInteger('deletionGracePeriodSeconds'),
  11: stringMap('labels'),
  12: stringMap('annotations'),
  13: many('ownerReferences', ownerReference),
  14: texts('finalizers'),
  // Who wrote the object last, for people (A8).
  17: readOnlyMany('managedFields', projectionOf({ 1: text('manager'), 4: time('time') })),
} as const;
const wholeMetadata = wholeMessage(metadata);

const metadataOf = (...names: readonly string[]): MessageType =>
  projectionOf(Object.fromEntries(Object.entries<Field>(metadata).filter(([, { name }]) => names.includes(name))));

const objectReference = wholeMessage({
  1: text('kind'),
  2: text('namespace'),
  3: text('name'),
  4: text('uid'),
  5: text('apiVersion'),
  6: text('resourceVersion'),
  7: text('fieldPath'),
});

const endpointAddress = internedMessage({
  1: keptText('ip'),
  2: one('targetRef', objectReference),
  3: text('hostname'),
  4: keptText('nodeName'),
});
const endpoints = wholeMessage({
  1: one('metadata', wholeMetadata),
  2: many(
    'subsets',
    wholeMessage({
      1: many('addresses', endpointAddress),
      2: many('notReadyAddresses', endpointAddress),
      3: many(
        'ports',
        wholeMessage({ 1: text('name'), 2: keptInteger('port'), 3: text('protocol'), 4: keptText('appProtocol') }),
      ),
    }),
  ),
});

const hint = wholeMessage({ 1: keptText('name') });
const endpointSlice = wholeMessage({
  1: one('metadata', wholeMetadata),
  2: nullableMany(
    'endpoints',
    internedMessage({
      1: texts('addresses'),
      2: one(
        'conditions',
        wholeMessage({ 1: keptBoolean('ready'), 2: keptBoolean('serving'), 3: keptBoolean('terminating') }),
      ),
      3: keptText('hostname'),
      4: one('targetRef', objectReference),
      5: stringMap('deprecatedTopology'),
      6: keptText('nodeName'),
      7: keptText('zone'),
      8: one('hints', wholeMessage({ 1: many('forZones', hint), 2: many('forNodes', hint) })),
    }),
  ),
  3: nullableMany(
    'ports',
    wholeMessage({ 1: keptText('name'), 2: keptText('protocol'), 3: keptInteger('port'), 4: keptText('appProtocol') }),
  ),
  4: keptText('addressType'),
});

const service = projectionOf({
  1: one(
    'metadata',
    metadataOf(
      ...['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp'],
      ...['labels', 'annotations'],
    ),
  ),
  2: one(
    'spec',
    projectionOf({
      1: many(
        'ports',
        projectionOf({
          1: text('name'),
          2: text('protocol'),
          3: keptInteger('port'),
          4: intOrString('targetPort'),
          6: keptText('appProtocol'),
        }),
      ),
      2: stringMap('selector'),
      3: text('clusterIP'),
      4: text('type'),
      11: text('externalTrafficPolicy'),
      13: boolean('publishNotReadyAddresses'),
      19: texts('ipFamilies'),
      22: keptText('internalTrafficPolicy'),
      23: keptText('trafficDistribution'),
    }),
  ),
});

const preStop = projectionOf({
  1: one('exec', projectionOf({})),
  2: one('httpGet', projectionOf({})),
  3: one('tcpSocket', projectionOf({})),
  4: one('sleep', projectionOf({ 1: integer('seconds') })),
});
const container = projectionOf({
  6: many('ports', projectionOf({ 1: text('name'), 3: keptInteger('containerPort'), 4: text('protocol') })),
  12: one('lifecycle', projectionOf({ 2: one('preStop', preStop) })),
  24: keptText('restartPolicy'),
});
const terminated = projectionOf({ 1: keptInteger('exitCode'), 3: text('reason') });
const containerState = projectionOf({
  1: one('waiting', projectionOf({ 1: text('reason') })),
  3: one('terminated', terminated),
});
const containerStatus = projectionOf({
  1: text('name'),
  2: one('state', containerState),
  3: one('lastState', containerState),
  4: keptBoolean('ready'),
  5: keptInteger('restartCount'),
});
const pod = projectionOf({
  1: one(
    'metadata',
    metadataOf('name', 'namespace', 'uid', 'resourceVersion', 'deletionTimestamp', 'labels', 'ownerReferences'),
  ),
  2: one(
    'spec',
    projectionOf({
      2: many('containers', container),
      4: integer('terminationGracePeriodSeconds'),
      10: text('nodeName'),
      16: text('hostname'),
      17: text('subdomain'),
      20: many('initContainers', container),
    }),
  ),
  3: one(
    'status',
    projectionOf({
      1: text('phase'),
      2: many(
        'conditions',
        projectionOf({
          ...{
            1: text('type'),
            2: text('status'),
            4: time('lastTransitionTime'),
            5: text('reason'),
            6: text('message'),
          },
        }),
      ),
      6: text('podIP'),
      8: many('containerStatuses', containerStatus),
      12: many('podIPs', projectionOf({ 1: text('ip') })),
    }),
  ),
});

const node = projectionOf({
  1: one('metadata', metadataOf('name', 'resourceVersion', 'labels')),
  2: one(
    'spec',
    projectionOf({
      4: boolean('unschedulable'),
      5: many('taints', projectionOf({ 1: text('key'), 3: text('effect') })),
    }),
  ),
  3: one(
    'status',
    projectionOf({
      2: quantityMap('allocatable'),
      4: many('conditions', projectionOf({ 1: text('type'), 2: text('status'), 5: text('reason') })),
    }),
  ),
});

/** Objects that Sluice writes are decoded whole; of the others only the fields that it reads. */
export const watchedTypes = {
  services: service,
  pods: pod,
  nodes: node,
  endpoints,
  endpointslices: endpointSlice,
} as const satisfies Readonly<Record<string, MessageType>>;
export type WatchedResource = keyof typeof watchedTypes;

export const writtenTypes: Readonly<Record<WrittenResource, MessageType>> = {
  endpoints,
  endpointslices: endpointSlice,
};

/** A bookmark has a resourceVersion and, at the end of the initial events, an annotation. */
export const bookmarkType = projectionOf({ 1: one('metadata', metadataOf('resourceVersion', 'annotations')) });

/** What is read of the response to a write: PartialObjectMetadata, and equally a whole object. */
export const storedMetadataType = projectionOf({
  1: one('metadata', metadataOf('name', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp')),
});

export const statusType = projectionOf({
  2: text('status'),
  3: text('message'),
  4: text('reason'),
  5: one(
    'details',
    projectionOf({
      1: text('name'),
      2: text('group'),
      3: text('kind'),
      4: many('causes', projectionOf({ 1: text('reason'), 2: text('message'), 3: text('field') })),
      5: integer('retryAfterSeconds'),
      6: text('uid'),
    }),
  ),
  6: integer('code'),
});
