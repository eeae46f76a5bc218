import type { Node, Pod } from '@sluice/controllers';

/** Says in a few words what happened to a Pod, as far as its endpoints are concerned. */
export function describePodChange(old: Pod | undefined, next: Pod | undefined): string {
  if (next === undefined) return 'deleted';
  if (old === undefined) return next.ready ? 'added, ready' : 'added';
  if (old.uid !== next.uid) return 'replaced by another of the same name';
  if (!old.terminating && next.terminating) return 'is terminating';
  if (!old.terminal && next.terminal) return 'finished';
  if (!old.ready && next.ready) return 'became ready';
  if (old.ready && !next.ready) return 'became not ready';
  if (old.ips.join() !== next.ips.join()) return `got address ${next.ips.join(', ') || 'none'}`;
  if (old.nodeName !== next.nodeName) return `was bound to Node ${next.nodeName}`;
  return 'changed';
}

/** Says in a few words what happened to a Node. */
export function describeNodeChange(old: Node | undefined, next: Node | undefined): string {
  if (next === undefined) return 'deleted';
  if (old === undefined) return 'added';
  if (old.zone !== next.zone) return `moved to zone ${next.zone || 'none'}`;
  if (old.ready !== next.ready) return next.ready ? 'became ready' : 'became not ready';
  return 'changed';
}

/** For kinds of which only existence and change are told. */
export function describeChange(existed: boolean): string {
  return existed ? 'changed' : 'added';
}
