import type { NamedPort, Pod, StringMap, UnreadyCondition } from '../objects.ts';
import {
  asFields,
  type Fields,
  fieldsAt,
  integerAt,
  listAt,
  nameOf,
  optionalStringAt,
  optionalTimeAt,
  projected,
  stringAt,
  stringMapAt,
} from './fields.ts';

/**
 * Projects a core/v1 Pod and its labels.
 *
 * @throws MalformedObjectError
 */
export function projectPod(raw: unknown): { pod: Pod; labels: StringMap } {
  return projected('Pod', raw, (object) => {
    const metadata = fieldsAt(object, 'metadata', 'metadata');
    const spec = fieldsAt(object, 'spec', 'spec');
    const status = fieldsAt(object, 'status', 'status');
    const phase = stringAt(status, 'phase', 'status.phase');
    const ready = readyCondition(status);
    const pod: Pod = {
      namespace: stringAt(metadata, 'namespace', 'metadata.namespace'),
      name: nameOf(metadata),
      uid: stringAt(metadata, 'uid', 'metadata.uid'),
      ip: stringAt(status, 'podIP', 'status.podIP'),
      ips: listAt(status, 'podIPs', 'status.podIPs', podIp),
      nodeName: stringAt(spec, 'nodeName', 'spec.nodeName'),
      hostname: stringAt(spec, 'hostname', 'spec.hostname'),
      subdomain: stringAt(spec, 'subdomain', 'spec.subdomain'),
      terminal: phase === 'Failed' || phase === 'Succeeded',
      terminating: optionalTimeAt(metadata, 'deletionTimestamp', 'metadata.deletionTimestamp') !== null,
      ready: ready !== null && ready.status === 'True',
      readyTransitionTime: ready === null ? null : ready.transitionTime,
      ...(ready?.unready !== undefined && { unready: ready.unready }),
      ports: namedPorts(spec),
    };
    return { pod, labels: stringMapAt(metadata, 'labels', 'metadata.labels') };
  });
}

function podIp(item: unknown): string {
  return stringAt(asFields(item, ''), 'ip', 'ip');
}

interface ReadyCondition {
  readonly status: string;
  readonly transitionTime: string | null;
  readonly unready: UnreadyCondition | undefined;
}

/** Limit of a condition's message, in characters. */
const maxMessage = 200;

/** The first condition of type Ready (C1). */
function readyCondition(status: Fields): ReadyCondition | null {
  let found: ReadyCondition | null = null;
  listAt(status, 'conditions', 'status.conditions', (item) => {
    const condition = asFields(item, '');
    if (found !== null || stringAt(condition, 'type', 'type') !== 'Ready') return;
    const status = stringAt(condition, 'status', 'status');
    found = {
      status,
      transitionTime: optionalTimeAt(condition, 'lastTransitionTime', 'lastTransitionTime'),
      unready: status === 'True' ? undefined : unreadyCondition(status, condition),
    };
  });
  return found;
}

/** Fields for people never make a Pod malformed. */
function unreadyCondition(status: string, { reason, message }: Fields): UnreadyCondition {
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return { status, reason: text(reason), message: text(message).slice(0, maxMessage) };
}

/** Containers first, then restartable init containers (C5). */
function namedPorts(spec: Fields): readonly NamedPort[] {
  const ports: NamedPort[] = [];
  listAt(spec, 'containers', 'spec.containers', (item) => collectPorts(asFields(item, ''), ports));
  listAt(spec, 'initContainers', 'spec.initContainers', (item) => {
    const container = asFields(item, '');
    if (optionalStringAt(container, 'restartPolicy', 'restartPolicy') === 'Always') collectPorts(container, ports);
  });
  return ports.length === 0 ? noPorts : ports.slice();
}

const noPorts: readonly NamedPort[] = [];

function collectPorts(container: Fields, ports: NamedPort[]): void {
  listAt(container, 'ports', 'ports', (item) => {
    const port = asFields(item, '');
    const name = stringAt(port, 'name', 'name');
    if (name === '') return;
    ports.push({
      name,
      protocol: stringAt(port, 'protocol', 'protocol'),
      containerPort: integerAt(port, 'containerPort', 'containerPort'),
    });
  });
}
