import { Counter, type Registry } from 'prom-client';
import type { SpanCounts } from './traces/span-buffer.ts';

/** What became of the spans that this process recorded. Undefined counts: it traces nothing. */
export function spanMetrics(registry: Registry, counts: () => SpanCounts | undefined): void {
  const counter = (name: string, help: string, labelNames: string[], collect: (this: Counter) => void) =>
    new Counter({ name: `sluice_trace_spans_${name}_total`, help, labelNames, registers: [registry], collect });
  counter('sent', 'Spans delivered to the collector', [], function () {
    this.reset();
    this.inc(counts()?.sent ?? 0);
  });
  counter('dropped', 'Spans lost: there was no room for them, or they could not be delivered', ['reason'], function () {
    const { overflown = 0, undelivered = 0 } = counts() ?? {};
    this.reset();
    this.inc({ reason: 'overflow' }, overflown);
    this.inc({ reason: 'undelivered' }, undelivered);
  });
}
