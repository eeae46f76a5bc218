import type { Exposition } from './prometheus/exposition.ts';
import { observableCounter } from './prometheus/observable.ts';
import type { SpanCounts } from './traces/span-buffer.ts';

/** Exported and dropped spans of this process. `counts` returns undefined if tracing is off. */
export function spanMetrics(exposition: Exposition, counts: () => SpanCounts | undefined): void {
  observableCounter(
    exposition,
    { name: 'sluice_trace_spans_sent_total', help: 'Spans delivered to the collector', labelNames: [] },
    (report) => report(counts()?.sent ?? 0),
  );
  observableCounter(
    exposition,
    {
      name: 'sluice_trace_spans_dropped_total',
      help: 'Spans lost: there was no room for them, or they could not be delivered',
      labelNames: ['reason'],
    },
    (report) => {
      const { overflown = 0, undelivered = 0 } = counts() ?? {};
      report(overflown, 'overflow');
      report(undelivered, 'undelivered');
    },
  );
}
