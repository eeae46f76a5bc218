import { mergeTraces, type TraceContext } from './trace-context.ts';

/** Why a message was produced: one event observed in a cluster. */
export interface Cause {
  /** For display: `Pod shop/cart-x7 modified`. */
  readonly description: string;
  /** When the watcher received it, in milliseconds since the Unix epoch. */
  readonly observedAt: number;
}

/** The causes of a Change or plan: the earliest ones and the number of the others. */
export interface Causes {
  readonly first: readonly Cause[];
  readonly more: number;
  /** Traces of the coalesced Changes. The first is continued, the others are linked (docs/guides/tracing.md). */
  readonly traces?: readonly TraceContext[];
}

/** The kind of the observed object; `other` if the cause is not an object, as with a resync. */
type CauseKind = (typeof causeKinds)[number];
const causeKinds = ['Service', 'Pod', 'Node', 'Endpoints', 'EndpointSlice', 'other'] as const;

export function causeKindOf({ description }: Cause): CauseKind {
  const word = description.slice(0, description.indexOf(' '));
  return causeKinds.find((kind) => kind === word) ?? 'other';
}

/** Cause of the writes that follow a watcher's initial list. */
export const watcherStarted = 'watcher started';

/** The same, of a Service whose slices name Pods that are gone: nobody saw when. */
export function watcherFound([first = '', ...others]: readonly string[]): string {
  return `${watcherStarted} and found Pod ${first} gone${others.length === 0 ? '' : `, and ${others.length} more`}`;
}

/** Whether this is the start of a watcher, at which everything is as old as it may be. */
export const isWatcherStart = ({ description }: Cause): boolean => description.startsWith(watcherStarted);

export const noCauses: Causes = { first: [], more: 0 };

/** Maximum number of causes listed; the others are only counted. */
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
