import type { Exposition } from './series/exposition.ts';
import { type Show, shown } from './series/shown.ts';
import type { SpanCounts } from './traces/span-buffer.ts';

/** What became of the spans that this process recorded. Undefined counts: it traces nothing. */
export function spanMetrics(exposition: Exposition, counts: () => SpanCounts | undefined): void {
  const counter = (name: string, help: string, labelNames: readonly string[], collect: (show: Show) => void) =>
    shown(exposition, { type: 'counter', name: `sluice_trace_spans_${name}_total`, help, labelNames }, collect);
  counter('sent', 'Spans delivered to the collector', [], (show) => show(counts()?.sent ?? 0));
  const dropped = 'Spans lost: there was no room for them, or they could not be delivered';
  counter('dropped', dropped, ['reason'], (show) => {
    const { overflown = 0, undelivered = 0 } = counts() ?? {};
    show(overflown, 'overflow');
    show(undelivered, 'undelivered');
  });
}
