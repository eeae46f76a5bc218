import type { PodEntry } from '@sluice/service-state';

/** A Pod and the placement of its Node. */
export type KnownPod = Pick<PodEntry, 'pod' | 'node'>;

/** Describes the first observation of a deletion timestamp. */
export const isBeingDeleted = 'is being deleted';

/** Describe a change of readiness; a reason may follow. */
export const [becameReady, becameNotReady] = ['became ready', 'became not ready'] as const;

/** Why the Pod is not ready, in parentheses: its own reason, the scheduler's, its Node, and its containers; empty if none is known. */
export function becauseOf({ pod: { unready, details, nodeName }, node }: KnownPod): string {
  const reason = [unready?.reason, unready?.message].filter((text) => text !== undefined && text !== '').join(': ');
  const onNode = node?.condition ? `Node ${nodeName} is ${node.condition}` : '';
  const { unscheduled = '', containers = [] } = details ?? {};
  const reasons = [reason, unscheduled, onNode, ...containers].filter((text) => text !== '');
  return reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
}

/** Why the Pod is disrupted, in parentheses; empty if the reason is unknown. */
const disruptionOf = ({ details }: KnownPod['pod']): string => (details?.disruption ? ` (${details.disruption})` : '');

/** Describes changes of a Pod that affect endpoints; empty if there are none. Null: the Pod does not exist. */
export function describePodChange(before: KnownPod | null, after: KnownPod | null): string[] {
  if (after === null) return before === null ? [] : ['was deleted, or its labels no longer match the selector'];
  if (before === null) return [`appeared: ${describePod(after)}`];
  if (before.pod.uid !== after.pod.uid) return [`was replaced by a Pod of the same name: ${describePod(after)}`];
  const texts: string[] = [];
  const [old, now] = [before.pod, after.pod];
  if (!old.terminating && now.terminating) texts.push(`${isBeingDeleted}${disruptionOf(now)}`);
  if (!old.terminal && now.terminal) texts.push('terminated');
  if (old.ready !== now.ready) texts.push(now.ready ? becameReady : `${becameNotReady}${becauseOf(after)}`);
  else texts.push(...changedContainers(old, now));
  const unscheduled = now.details?.unscheduled ?? '';
  if (unscheduled !== '' && unscheduled !== old.details?.unscheduled) texts.push(`is not scheduled (${unscheduled})`);
  if (old.ips.join() !== now.ips.join())
    texts.push(now.ips.length === 0 ? 'lost its IP' : `has IP ${now.ips.join(', ')}`);
  if (old.nodeName !== now.nodeName) texts.push(`was assigned to Node ${now.nodeName}`);
  if (before.node === null && after.node !== null) texts.push(`is on Node ${now.nodeName}, which is now known`);
  if (before.node !== null && after.node === null) texts.push(`is on Node ${now.nodeName}, which was deleted`);
  if (before.node !== null && after.node !== null && before.node.zone !== after.node.zone)
    texts.push(`is on Node ${now.nodeName}, which moved to zone ${after.node.zone || '(none)'}`);
  texts.push(...changedNode(before, after));
  if (old.hostname !== now.hostname || old.subdomain !== now.subdomain) texts.push('changed its hostname');
  if (JSON.stringify(old.ports) !== JSON.stringify(now.ports)) texts.push('changed its ports');
  return texts;
}

/** The Pod stays on its Node, whose condition changed. */
function changedNode(before: KnownPod, { pod, node }: KnownPod): readonly string[] {
  const isSame = before.pod.nodeName === pod.nodeName && before.node?.condition === node?.condition;
  if (isSame || before.node === null || node === null) return [];
  return [`is on Node ${pod.nodeName}, which is ${node.condition ?? 'as it should be again'}`];
}

/** Containers whose state changed; one that is as it should be again is not described. */
function changedContainers(old: KnownPod['pod'], now: KnownPod['pod']): readonly string[] {
  const known = old.details?.containers ?? [];
  return (now.details?.containers ?? []).filter((text) => !known.includes(text)).map((text) => `has container ${text}`);
}

function describePod({ pod, node }: KnownPod): string {
  const state = pod.terminal ? 'terminated' : pod.terminating ? 'being deleted' : pod.ready ? 'ready' : 'not ready';
  const unscheduled = pod.details?.unscheduled ? ` (${pod.details.unscheduled})` : '';
  const where =
    pod.nodeName === '' ? `not scheduled${unscheduled}` : `on ${pod.nodeName}${node === null ? ' (unknown Node)' : ''}`;
  const owner = pod.details?.owner ? [`of ${pod.details.owner}`] : [];
  return [state, pod.ips.join(', ') || 'no IP', where, ...owner].join(', ');
}
