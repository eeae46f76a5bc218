import type { SpanView, TraceView } from '../view/schemas.ts';

type Where = TraceView['spent'][number]['where'];
type TimedSpan = Pick<SpanView, 'name' | 'startedAt' | 'durationMs'>;

/** Where the time of a span is spent. When several spans are open, the first of these counts. */
const kinds: readonly (readonly [Where, RegExp])[] = [
  ['API server', /^[A-Z]+ \//],
  ['store', /^commit$/],
  ['Sluice', /^(watch|decide|process changes)/],
  ['writer queue', /^process mutations/],
  ['bus', /^publish/],
];

/**
 * Where the time went from the first cause of a trace to the last response of the API server, the largest share first. While no
 * span is open, the change waits for a plan in flight or a batch period.
 */
export function timeSpent(spans: readonly TimedSpan[]): TraceView['spent'] {
  const known = spans.flatMap((span) => {
    const kind = kinds.findIndex(([, pattern]) => pattern.test(span.name));
    return kind < 0 ? [] : [{ kind, from: span.startedAt, to: span.startedAt + span.durationMs }];
  });
  const requests = known.filter(({ kind }) => kind === 0);
  const end = Math.max(...(requests.length > 0 ? requests : known).map(({ to }) => to));
  const steps = known
    .filter(({ from }) => from < end)
    .flatMap(({ kind, from, to }) => [
      { kind, at: from, change: 1 },
      { kind, at: Math.min(to, end), change: -1 },
    ])
    .sort((a, b) => a.at - b.at);
  const open = kinds.map(() => 0);
  const spent = new Map<Where, number>();
  let before = steps[0]?.at ?? 0;
  for (const { kind, at, change } of steps) {
    const where = kinds[open.findIndex((count) => count > 0)]?.[0] ?? 'waiting';
    spent.set(where, (spent.get(where) ?? 0) + at - before);
    before = at;
    open[kind] = (open[kind] ?? 0) + change;
  }
  return [...spent]
    .filter(([, ms]) => ms > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([where, ms]) => ({ where, ms }));
}
