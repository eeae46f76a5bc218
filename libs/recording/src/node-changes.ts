import type { KeyedRecord } from './recording-file.ts';
import { messageOf } from './records.ts';

/** A change of a Node, as one of the Services with Pods on it learned of it. Times in milliseconds since the Unix epoch. */
export interface NodeChange {
  /** Identity of the cluster. */
  readonly cluster: string;
  readonly node: string;
  /** For people: `became not ready (NodeStatusUnknown)`. */
  readonly text: string;
  readonly at: number;
  /** What keeps Pods from running on it afterwards; empty: nothing; null: the Node does not exist. */
  readonly condition: string | null;
  /** Formatted key of the Service. */
  readonly key: string;
}

export interface NodeEvent extends Pick<NodeChange, 'text' | 'at'> {}

/**
 * Time in which a Node could not run Pods as it should: from the first event until nothing kept Pods from running on it, or it was
 * deleted.
 */
export interface NodeDisruption {
  readonly cluster: string;
  readonly node: string;
  readonly from: number;
  /** Null: neither a recovery nor the deletion of the Node was recorded. */
  readonly to: number | null;
  readonly isDeleted: boolean;
  /** In the order of time. */
  readonly events: readonly NodeEvent[];
  /** Those with Pods on the Node: when the first event affected each, by formatted key. */
  readonly services: ReadonlyMap<string, number>;
}

/** The changes of Nodes that caused a record. `node`: only of this one. */
export function nodeChangesIn({ key, payload }: KeyedRecord, node?: string): readonly NodeChange[] {
  const message = messageOf({ payload });
  if (message?.kind !== 'change') return [];
  return message.causes.first.flatMap(({ description, observedAt: at }) => {
    const [, name = '', text = ''] = /^Node (\S+) (.+)$/s.exec(description) ?? [];
    if (name === '' || (node !== undefined && node !== name)) return [];
    const fact = message.facts.find((one) => one.kind === 'pod' && one.pod?.nodeName === name);
    if (fact?.kind !== 'pod') return [];
    const condition = fact.node === null ? null : (fact.node.condition ?? '');
    return [{ cluster: message.key.cluster, node: name, text, at, condition, key }];
  });
}

/** In the order of their start. */
export function disruptionsOf(changes: readonly NodeChange[]): readonly NodeDisruption[] {
  const byNode = Map.groupBy(changes, ({ cluster, node }) => `${cluster}/${node}`);
  return [...byNode.values()].flatMap(disruptionsOfNode).sort((a, b) => a.from - b.from);
}

interface OpenDisruption extends NodeDisruption {
  readonly events: NodeEvent[];
  readonly services: Map<string, number>;
}

function disruptionsOfNode(changes: readonly NodeChange[]): readonly NodeDisruption[] {
  const found: NodeDisruption[] = [];
  let open: OpenDisruption | undefined;
  for (const event of eventsOf(changes)) {
    const [{ cluster, node, at, text }] = event;
    // Services learn of the recovery of a Node only if they have Pods on it. A repeated event says that there was one.
    if (open?.events.at(-1)?.text === text) open = undefined;
    // Services may combine an event with the recovery after it.
    const isDisrupted = event.some(({ condition }) => condition !== '');
    if (open === undefined) {
      if (!isDisrupted) continue;
      open = { cluster, node, from: at, to: null, isDeleted: false, events: [], services: new Map() };
      found.push(open);
    }
    open.events.push({ at, text });
    for (const { key } of event) if (!open.services.has(key)) open.services.set(key, at);
    const isDeleted = event.some(({ condition }) => condition === null);
    if (isDisrupted && !isDeleted) continue;
    found[found.length - 1] = { ...open, to: at, isDeleted };
    open = undefined;
  }
  return found;
}

type Event = readonly [NodeChange, ...NodeChange[]];

/** The events of a Node in the order of time, each as every Service learned of it. */
function eventsOf(changes: readonly NodeChange[]): readonly Event[] {
  const events = Map.groupBy(changes, ({ at, text }) => `${at} ${text}`);
  return ([...events.values()] as unknown as readonly Event[]).toSorted(([a], [b]) => a.at - b.at);
}
