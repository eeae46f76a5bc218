import type { PodEntry } from '@sluice/service-state';

/** A Pod with its Node's placement. */
export type KnownPod = Pick<PodEntry, 'pod' | 'node'>;

/** The news that a Pod has a deletion timestamp. */
export const isBeingDeleted = 'is being deleted';

/** Describes what changed in a Pod; empty if nothing that endpoints depend on. Null: the Pod does not exist. */
export function podNews(before: KnownPod | null, after: KnownPod | null): string[] {
  if (after === null) return before === null ? [] : ['is gone, or its labels do not match any more'];
  if (before === null) return [`appeared: ${describe(after)}`];
  if (before.pod.uid !== after.pod.uid) return [`was replaced by another of its name: ${describe(after)}`];
  const news: string[] = [];
  const was = before.pod;
  const is = after.pod;
  if (!was.terminating && is.terminating) news.push(isBeingDeleted);
  if (!was.terminal && is.terminal) news.push('has finished');
  if (was.ready !== is.ready) news.push(is.ready ? 'became ready' : 'became not ready');
  if (was.ips.join() !== is.ips.join()) news.push(is.ips.length === 0 ? 'lost its IP' : `has IP ${is.ips.join(', ')}`);
  if (was.nodeName !== is.nodeName) news.push(`was assigned to Node ${is.nodeName}`);
  if (before.node === null && after.node !== null) news.push(`its Node ${is.nodeName} is known now`);
  if (before.node !== null && after.node === null) news.push(`its Node ${is.nodeName} is gone`);
  if (before.node !== null && after.node !== null && before.node.zone !== after.node.zone)
    news.push(`its Node moved to zone ${after.node.zone || '(none)'}`);
  if (was.hostname !== is.hostname || was.subdomain !== is.subdomain) news.push('changed its hostname');
  if (JSON.stringify(was.ports) !== JSON.stringify(is.ports)) news.push('changed its ports');
  return news;
}

function describe({ pod, node }: KnownPod): string {
  const state = pod.terminal ? 'finished' : pod.terminating ? 'being deleted' : pod.ready ? 'ready' : 'not ready';
  const where = pod.nodeName === '' ? 'not scheduled' : `on ${pod.nodeName}${node === null ? ' (not known)' : ''}`;
  return [state, pod.ips.join(', ') || 'no IP', where].join(', ');
}
