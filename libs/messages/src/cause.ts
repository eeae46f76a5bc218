import { mergeTraces, type TraceContext } from './trace-context.ts';

/** Why something is done: one thing that was observed in a cluster. */
export interface Cause {
  /** For people: `Pod shop/cart-x7 modified`. */
  readonly description: string;
  /** When the watcher received it, in milliseconds since the Unix epoch. */
  readonly observedAt: number;
}

/** The causes of a Change or plan: the earliest few, and how many more there were. */
export interface Causes {
  readonly first: readonly Cause[];
  readonly more: number;
  /** Traces of the Changes that carried them: the first is continued, the others are coalesced with it (docs/guides/tracing.md). */
  readonly traces?: readonly TraceContext[];
}

/** What was observed: an object of this kind; `other`: nothing in the cluster, as with a resync. */
export type CauseKind = (typeof causeKinds)[number];
export const causeKinds = ['Service', 'Pod', 'Node', 'Endpoints', 'EndpointSlice', 'other'] as const;

export function causeKindOf({ description }: Cause): CauseKind {
  const word = description.slice(0, description.indexOf(' '));
  return causeKinds.find((kind) => kind === word) ?? 'other';
}

/** The cause of what is written because a watcher has just come to know the cluster. */
export const watcherStarted = 'watcher started';

export const noCauses: Causes = { first: [], more: 0 };

/** How many causes are carried by name; of the rest only the number. */
export const maxCauses = 8;

export function mergeCauses(a: Causes, b: Causes): Causes {
  if (a.first.length === 0 && a.more === 0) return b;
  if (b.first.length === 0 && b.more === 0) return a;
  const all = [...a.first, ...b.first].sort((x, y) => x.observedAt - y.observedAt);
  const traces = mergeTraces(a.traces, b.traces);
  return {
    first: all.slice(0, maxCauses),
    more: a.more + b.more + Math.max(0, all.length - maxCauses),
    ...(traces && { traces }),
  };
}
