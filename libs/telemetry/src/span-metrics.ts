import type { Exposition } from './prometheus/exposition.ts';
import { observableCounter } from './prometheus/observable.ts';

/** Numbers of spans that left the queue of the batch processor. */
export interface SpanCounts {
  readonly exported: number;
  /** Dropped because the queue was full. */
  readonly queueFull: number;
  /** Dropped because the export failed. */
  readonly failed: number;
}

/** Exported and dropped spans of this process. `counts` returns undefined if tracing is off. */
export function spanMetrics(exposition: Exposition, counts: () => SpanCounts | undefined): void {
  observableCounter(
    exposition,
    { name: 'sluice_trace_spans_exported_total', help: 'Spans exported to the collector', labelNames: [] },
    (report) => report(counts()?.exported ?? 0),
  );
  observableCounter(
    exposition,
    {
      name: 'sluice_trace_spans_dropped_total',
      help: 'Spans that were not exported, by reason',
      labelNames: ['reason'],
    },
    (report) => {
      const { queueFull = 0, failed = 0 } = counts() ?? {};
      report(queueFull, 'queue_full');
      report(failed, 'export_failed');
    },
  );
}
