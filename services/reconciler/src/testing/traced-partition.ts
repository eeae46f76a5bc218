import { type TraceContext, traceContext, withSpan } from '@sluice/messages';
import { VirtualClock } from '@sluice/platform';
import type { Span, Tracer } from '@sluice/telemetry';
import { PartitionTraces } from '../partition-traces.ts';

/** The trace of a Change: its number, 0 to 9, is the first digit of all its ids. */
export function aTrace(n: number, isSampled = true): TraceContext {
  return traceContext(`${n}`.padEnd(32, 'a'), `${n}`.padEnd(16, '0'), isSampled);
}

/** Partition 3, whose owner has the fencing token 7. */
export class TracedPartition {
  readonly clock = new VirtualClock(5_000);
  /** What was recorded, in order. */
  readonly spans: Span[] = [];
  readonly traces: PartitionTraces;
  #ids = 0;

  constructor() {
    const tracer: Tracer = {
      startTrace: () => aTrace(0),
      childOf: (parent) => withSpan(parent, `${++this.#ids}`.padStart(15, 'c').concat('0')),
      record: (span) => void this.spans.push(span),
      slowMs: 1_000,
      systems: { messaging: 'jetstream', store: 'redis' },
    };
    this.traces = new PartitionTraces({ tracer, clock: this.clock, partition: 3, fencingToken: 7 });
  }
}
