import type { Message } from '@sluice/messages';
import type { Pod } from '@sluice/model';
import { getOrCreate } from '@sluice/platform';
import { ServiceStates } from '@sluice/service-state';
import type { Appearance } from './propagations.ts';
import type { RecordedPeriod } from './queries.ts';
import { messageOf, type StoredRecord } from './records.ts';

/** Times in milliseconds since the Unix epoch. */
export interface PodSpan {
  readonly from: number;
  /** Null: it continues. */
  readonly to: number | null;
  /** unknown: nothing was recorded. */
  readonly state: Exclude<Appearance, 'absent'> | 'unknown';
}

/** How a Pod was over time, while the Service selected it. */
export interface PodTimeline {
  readonly pod: string;
  /** The controller that owns it: `ReplicaSet web-5d9`; empty: none, or not recorded. */
  readonly owner: string;
  /** In the order of time. Between them, the Pod did not exist. */
  readonly spans: readonly PodSpan[];
}

/** How the Pods of a Service were while these records were received, and before a time. */
export function podTimelines(
  key: string,
  records: readonly StoredRecord[],
  { from, gaps }: { readonly from: number; readonly gaps: readonly RecordedPeriod[] },
): readonly PodTimeline[] {
  const states = new ServiceStates();
  const pods = new Map<string, { owner: string; readonly spans: PodSpan[] }>();
  for (const { receivedAt, payload } of records) {
    const at = Math.max(from, receivedAt);
    const message = messageOf({ payload });
    if (message?.kind === 'clusterRemoved') for (const { spans } of pods.values()) setState(spans, undefined, at);
    for (const change of apply(states, key, message, receivedAt)) {
      if (change.kind !== 'pod') continue;
      const pod = change.after?.pod;
      const known = getOrCreate(pods, change.name, () => ({ owner: '', spans: [] }));
      known.owner = pod?.details?.owner ?? known.owner;
      setState(known.spans, pod && stateOf(pod), at);
    }
  }
  return [...pods]
    .map(([pod, { owner, spans }]) => ({ pod, owner, spans: spans.flatMap((span) => withoutGaps(span, gaps)) }))
    .filter(({ spans }) => spans.length > 0);
}

function apply(states: ServiceStates, key: string, message: Message | undefined, at: number) {
  try {
    return (message && states.apply(key, message, at)?.changes) ?? [];
  } catch {
    // The recorder has logged it.
    return [];
  }
}

const stateOf = ({ ready, terminating }: Pod): PodSpan['state'] =>
  terminating ? 'terminating' : ready ? 'ready' : 'not ready';

function setState(spans: PodSpan[], state: PodSpan['state'] | undefined, at: number): void {
  const last = spans.at(-1);
  if (last?.to === null) {
    if (last.state === state) return;
    spans.pop();
    // What ended at once was before the period.
    if (at > last.from) spans.push({ ...last, to: at });
  }
  if (state !== undefined) spans.push({ from: at, to: null, state });
}

/** How the Pod was during a gap is unknown. */
function withoutGaps(span: PodSpan, gaps: readonly RecordedPeriod[]): readonly PodSpan[] {
  const end = span.to ?? Number.POSITIVE_INFINITY;
  const gap = gaps.find(({ from, to }) => from < end && to > span.from);
  if (gap === undefined) return [span];
  const unknown = { from: Math.max(span.from, gap.from), to: Math.min(end, gap.to), state: 'unknown' } as const;
  return [
    ...(span.from < gap.from ? [{ ...span, to: gap.from }] : []),
    unknown,
    ...(end > gap.to ? withoutGaps({ ...span, from: gap.to }, gaps) : []),
  ];
}
