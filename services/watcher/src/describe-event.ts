import type { Node, Pod } from '@sluice/controllers';
import type { Resource } from '@sluice/kubernetes';
import type { ObjectEvent } from './object-event.ts';

/** One line for people: `Pod shop/cart-x7 became ready`. It becomes the description of a Cause. */
export function describeEvent(event: ObjectEvent): string {
  const { resource, namespace, name } = event;
  return `${kinds[resource]} ${namespace === '' ? name : `${namespace}/${name}`} ${describeChange(event)}`;
}

const kinds: Readonly<Record<Resource, string>> = {
  services: 'Service',
  pods: 'Pod',
  nodes: 'Node',
  endpoints: 'Endpoints',
  endpointslices: 'EndpointSlice',
};

function describeChange(event: ObjectEvent): string {
  switch (event.resource) {
    case 'pods':
      return describePodChange(event.oldObject?.pod, event.newObject?.pod);
    case 'nodes':
      // Neither is known of a Node that cannot be decoded.
      return event.oldObject === event.newObject ? event.type : describeNodeChange(event.oldObject, event.newObject);
    default:
      return event.type === 'modified' ? 'changed' : event.type;
  }
}

/** Names the first difference that affects the Pod's endpoints. */
function describePodChange(old: Pod | undefined, next: Pod | undefined): string {
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

function describeNodeChange(old: Node | undefined, next: Node | undefined): string {
  if (next === undefined) return 'deleted';
  if (old === undefined) return 'added';
  if (old.zone !== next.zone) return `moved to zone ${next.zone || 'none'}`;
  if (old.ready !== next.ready) return next.ready ? 'became ready' : 'became not ready';
  return 'changed';
}
