import type { Pseudonyms } from './pseudonyms.ts';

/** Texts in a form that Sluice writes keep the form. Any other text is replaced as a whole. */

const objectChange = /^(Service|Pod|Node|Endpoints|EndpointSlice) (?:([^\s/]+)\/)?([^\s/]+) (.+)$/s;

const foundGone = /^(watcher started and found Pod )([^\s/]+)\/([^\s/]+)( gone(?:, and \d+ more)?)$/;

/** Of a Cause: `Pod shop/cart-x7 became ready`. */
export function redactDescription(text: string, to: Pseudonyms): string {
  if (text === 'watcher started') return text;
  const [found, before = '', podNamespace = '', pod = '', after = ''] = foundGone.exec(text) ?? [];
  if (found !== undefined) return `${before}${to.text(podNamespace, 'namespace')}/${to.text(pod, 'pod')}${after}`;
  const [matched, kind = '', namespace, name = '', change = ''] = objectChange.exec(text) ?? [];
  if (matched === undefined) return to.text(text, 'message');
  const prefix = namespace === undefined ? '' : `${to.text(namespace, 'namespace')}/`;
  return `${kind} ${prefix}${to.text(name, kind.toLowerCase())} ${redactChange(change, to)}`;
}

const changes: ReadonlySet<string> = new Set([
  ...['added', 'added, ready', 'modified', 'changed', 'deleted', 'replaced by another of the same name'],
  ...['is terminating', 'finished', 'became ready', 'became not ready', 'is schedulable'],
]);

function redactChange(change: string, to: Pseudonyms): string {
  if (changes.has(change)) return change;
  const [, verb = '', rest = ''] = /^(got address|was bound to Node|moved to zone|became|is) (.+)$/s.exec(change) ?? [];
  const none = (redact: (text: string) => string) => (rest === 'none' ? rest : redact(rest));
  switch (verb) {
    case 'got address':
      return `${verb} ${none((text) =>
        text
          .split(', ')
          .map((one) => to.address(one))
          .join(', '),
      )}`;
    case 'was bound to Node':
      return `${verb} ${to.text(rest, 'node')}`;
    case 'moved to zone':
      return `${verb} ${none((text) => to.text(text, 'zone'))}`;
    case 'became':
    case 'is':
      return `${verb} ${redactNodeCondition(rest, to)}`;
    default:
      return to.text(change, 'message');
  }
}

/** `not ready (NodeStatusUnknown), unschedulable, taint node.kubernetes.io/unreachable:NoExecute` */
export function redactNodeCondition(text: string, to: Pseudonyms): string {
  const parts = text.split(', ').map((part) => {
    if (/^(?:not ready(?: \([A-Z][A-Za-z]*\))?|unschedulable)?$/.test(part)) return part;
    const [matched, key = '', effect = ''] = /^taint (\S*):(NoExecute)$/.exec(part) ?? [];
    if (matched === undefined) return to.text(part, 'message');
    return `taint ${nodeTaint.test(key) ? key : to.text(key, 'label')}:${effect}`;
  });
  return parts.join(', ');
}

/** Those that Kubernetes itself sets. */
const nodeTaint =
  /^node\.kubernetes\.io\/(?:not-ready|unreachable|unschedulable|memory-pressure|disk-pressure|pid-pressure|network-unavailable|out-of-service)$/;

const containerState =
  /^(?:waiting|terminated, exit code -?\d+|ready|running, not ready)(?: \([A-Z]\w*\))?(?:, \d+ restarts?)?(?:, last exit code -?\d+(?: \([A-Z]\w*\))?)?$/;

/** `app: waiting (CrashLoopBackOff), 3 restarts` */
export function redactContainer(text: string, to: Pseudonyms): string {
  const [name = '', state] = text.split(': ');
  if (state === undefined || !containerState.test(state)) return to.text(text, 'message');
  return `${to.text(name, 'container')}: ${state}`;
}

/** `ReplicaSet web-5d9` */
export function redactOwner(text: string, to: Pseudonyms): string {
  if (text === '') return text;
  const [kind = '', ...name] = text.split(' ');
  return `${redactKind(kind, to)} ${to.text(name.join(' '), 'owner')}`;
}

const kinds: ReadonlySet<string> = new Set([
  ...['Service', 'Pod', 'Node', 'Endpoints', 'EndpointSlice', 'Namespace'],
  ...['ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob', 'ReplicationController'],
]);

/** Kinds of custom resources are names too. */
export const redactKind = (kind: string, to: Pseudonyms): string => (kinds.has(kind) ? kind : to.text(kind, 'kind'));

/** A word such as `ContainersNotReady`, which programs define, stays. */
export const redactReason = (text: string, to: Pseudonyms): string =>
  /^[A-Z][A-Za-z]*$/.test(text) ? text : to.text(text, 'message');

export const redactTime = (text: string, to: Pseudonyms): string =>
  /^[\d-]+T[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : to.text(text, 'message');
