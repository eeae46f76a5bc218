import { isController } from '@sluice/controllers';
import type { Message, ResyncRequest } from '@sluice/messages';
import type { Pseudonyms } from './pseudonyms.ts';
import { redactLabel } from './redact-labels.ts';
import {
  redactContainer,
  redactDescription,
  redactKind,
  redactNodeCondition,
  redactOwner,
  redactReason,
  redactTime,
} from './redact-text.ts';

/** Redacts a text of a field. `context`: what contains the field. */
export type TextRule = (text: string, to: Pseudonyms, context: FieldContext) => string;

export interface FieldContext {
  /** Field that holds the object, or the list of objects. */
  readonly field: string;
  /** Of the object, if it names its kind. */
  readonly kind: string;
}

/** How a field is redacted: its texts by a function; `plain`: not at all; `omitted`: it is left out. */
export type FieldRule = TextRule | 'labels' | 'zones' | 'plain' | 'omitted';

/** Every field that a recorded message can have. */
type Field = FieldsOf<Exclude<Message, ResyncRequest>> | 'version' | 'verb';
type FieldsOf<T> = T extends readonly (infer E)[]
  ? FieldsOf<E>
  : T extends object
    ? string extends keyof T
      ? never
      : (keyof T & string) | FieldsOf<T[keyof T]>
    : never;

const named =
  (prefix: string): TextRule =>
  (text, to) =>
    to.text(text, prefix);

const uid: TextRule = (text, to) => to.uid(text);
const address: TextRule = (text, to) => (text === 'None' || text === '<nil>' ? text : to.address(text));
const reason: TextRule = redactReason;
const message = named('message');

/** Values that Kubernetes or Sluice define stay. */
const known =
  (...values: readonly string[]): TextRule =>
  (text, to) =>
    values.includes(text) ? text : to.text(text, 'value');

const matching =
  (pattern: RegExp): TextRule =>
  (text, to) =>
    pattern.test(text) ? text : to.text(text, 'value');

const resourceVersion = matching(/^\d*$/);
const controller: TextRule = (text, to) => (isController(text) ? text : to.text(text, 'value'));

const prefixes: Readonly<Record<string, string>> = {
  ...{ pod: 'pod', readiness: 'pod', node: 'node', slice: 'endpointslice', ports: 'port', forZones: 'zone' },
  ...{
    forNodes: 'node',
    metadata: 'endpointslice',
    results: 'endpointslice',
    service: 'service',
    Service: 'service',
    Pod: 'pod',
    Node: 'node',
  },
};

/** The kind of what has the name, for people. */
const name: TextRule = (text, to, { field, kind }) => to.text(text, prefixes[kind] ?? prefixes[field] ?? 'name');

const messageKinds = ['change', 'clusterRemoved', 'compaction', 'mutations', 'outcome', 'release'];
const factKinds = ['service', 'pod', 'endpoints', 'slice', 'topology', 'node', 'readiness'];
const kind: TextRule = (text, to) => ([...messageKinds, ...factKinds].includes(text) ? text : redactKind(text, to));

const managers = ['kube-controller-manager', 'k3s', 'kubelite', 'hyperkube', 'kubectl', 'kubectl-client-side-apply'];
const manager: TextRule = (text, to) => (managers.includes(text) ? text : to.text(text, 'manager'));
const resources = ['services', 'pods', 'nodes', 'endpoints', 'endpointslices'];
const noTrace = '0'.repeat(55);

/** A new field needs a rule, or is named among those without texts. */
const rules: Readonly<Record<Exclude<Field, (typeof withoutTexts)[number]>, FieldRule>> = {
  version: matching(/^\d+\.\d+$/),
  kind,
  ...{ cluster: uid, namespace: named('namespace'), service: named('service'), name, uid, serviceUid: uid },
  generateName: (text, to) => `${to.text(text.replace(/-$/, ''), 'service')}-`,
  ...{ nodeName: named('node'), zone: named('zone'), hostname: named('host'), subdomain: named('host') },
  ...{ ip: address, ips: address, addresses: address, address, clusterIP: address },
  ...{ labels: 'labels', annotations: 'labels', selector: 'labels', deprecatedTopology: 'labels', label: redactLabel },
  ...{ zoneRatios: 'zones', nodesByZone: 'zones' },
  ...{ manager, labelledFor: named('service'), owner: redactOwner, finalizers: named('value') },
  ...{ description: redactDescription, condition: redactNodeCondition, containers: redactContainer },
  ...{
    reason,
    disruption: reason,
    message,
    error: message,
    unpublishable: message,
    incomplete: message,
    unscheduled: message,
  },
  status: known('applied', 'failed', 'conflict', 'unavailable', 'namespaceTerminating', 'rejected', 'False', 'Unknown'),
  preStop: matching(/^(?:sleep -?\d+ s|exec|httpGet|tcpSocket)?$/),
  traces: (text) => /^[0-9a-f-]{55}/.exec(text)?.[0] ?? noTrace,
  ...{ resourceVersion, endpoints: resourceVersion, endpointslices: resourceVersion },
  ...{ creationTimestamp: redactTime, deletionTimestamp: redactTime, readyTransitionTime: redactTime },
  type: known('ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName', 'Normal', 'Warning'),
  ...{ addressType: known('IPv4', 'IPv6', 'FQDN'), ipFamilies: known('IPv4', 'IPv6') },
  ...{ protocol: known('TCP', 'UDP', 'SCTP'), targetPort: named('port') },
  appProtocol: known('http', 'https', 'tcp', 'grpc', 'kubernetes.io/h2c', 'kubernetes.io/ws', 'kubernetes.io/wss'),
  trafficDistribution: known('PreferClose', 'PreferSameZone', 'PreferSameNode'),
  ...{ internalTrafficPolicy: known('Local'), externalTrafficPolicy: known('Local') },
  apiVersion: known('v1', 'apps/v1', 'batch/v1', 'discovery.k8s.io/v1'),
  fieldPath: named('value'),
  // Milliseconds by controller.
  ...{ controller, controllers: controller, batchPeriodMs: 'plain' },
  ...{ verb: known('create', 'update', 'delete'), resource: known(...resources), unwatched: known(...resources) },
  // A hash of names can be guessed.
  digest: 'omitted',
};

/** Objects, numbers and flags. */
const withoutTexts = [
  ...(['added', 'backoff', 'baseMs', 'basis', 'batching', 'blockOwnerDeletion', 'causes', 'compaction'] as const),
  ...(['completedAt', 'conditions', 'consecutiveRepairs', 'containerPort', 'cooldownMs', 'count'] as const),
  ...(['current', 'decidedAt', 'deleting', 'delta', 'details', 'epoch', 'events', 'evidence', 'facts'] as const),
  ...(['first', 'forNodes', 'forZones', 'freshnessTargetMs', 'generation', 'gracePeriodSeconds', 'group'] as const),
  ...(['groups', 'heldBack', 'hintedServices', 'hints', 'inFlight', 'index', 'initial', 'key', 'last'] as const),
  ...(['maxAttempts', 'maxEndpointsPerSlice', 'maxEndpointsPerSubset', 'maxMs', 'maxWrites', 'metadata'] as const),
  ...(['more', 'moved', 'mutations', 'node', 'notReadyAddresses', 'number', 'object', 'observedAt'] as const),
  ...(['onlyWorthwhile', 'ownerReferences', 'parkedRetryMs', 'plan', 'pod', 'pods', 'port', 'ports'] as const),
  ...(['previousEpoch', 'previousSequence', 'publishNotReadyAddresses', 'ready', 'regarding'] as const),
  ...(['relabelled', 'released', 'releasedAt', 'removed', 'removedAt', 'repeated', 'requestedAt'] as const),
  ...(['resourceVersions', 'results', 'retries', 'retryAfterMs', 'sequence', 'serving', 'settings'] as const),
  ...(['similarPods', 'slice', 'slices', 'snapshot', 'stamp', 'startedAt', 'stored', 'subsets', 'targetRef'] as const),
  ...(['terminal', 'terminating', 'topology', 'total', 'unready', 'unsupportedAddressType', 'watchers'] as const),
] as const satisfies readonly Field[];

const withoutTextRule: TextRule = (text, to) => to.text(text, 'value');

/** Fields that are not among them are left out: an API server of the future may add any. */
export const fieldRules: ReadonlyMap<string, FieldRule> = new Map<string, FieldRule>([
  ...withoutTexts.map((field) => [field, withoutTextRule] as const),
  ...Object.entries(rules),
]);
