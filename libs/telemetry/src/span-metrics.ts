import type { Exposition } from './prometheus/exposition.ts';
import { observableCounter } from './prometheus/metrics.ts';

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
    () => [[{}, counts()?.exported ?? 0]],
  );
  observableCounter(
    exposition,
    {
      name: 'sluice_trace_spans_dropped_total',
      help: 'Spans that were not exported, by reason',
      labelNames: ['reason'],
    },
    () => {
      const { queueFull = 0, failed = 0 } = counts() ?? {};
      return [
        [{ reason: 'queue_full' }, queueFull],
        [{ reason: 'export_failed' }, failed],
      ];
    },
  );
}
