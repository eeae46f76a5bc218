import { type Attributes, createNoopMeter, type Meter, type MeterProvider } from '@opentelemetry/api';
import { ATTR_ERROR_TYPE } from '@opentelemetry/semantic-conventions';
import { METRIC_OTEL_SDK_PROCESSOR_SPAN_PROCESSED } from '@opentelemetry/semantic-conventions/incubating';
import type { SpanCounts } from '../metrics.ts';

/** Counts spans by what the SDK reports about its batch processor. Everything else it reports is ignored. */
export class SpanCounter {
  readonly #counts = { exported: 0, queueFull: 0, failed: 0 };
  readonly meterProvider: MeterProvider;

  constructor() {
    const processed = { add: (spans: number, attributes: Attributes = {}) => this.#add(spans, attributes) };
    const ignored = createNoopMeter();
    const meter: Meter = Object.create(ignored, {
      createCounter: {
        value: (name: string) =>
          name === METRIC_OTEL_SDK_PROCESSOR_SPAN_PROCESSED ? processed : ignored.createCounter(name),
      },
    });
    this.meterProvider = { getMeter: () => meter };
  }

  get counts(): SpanCounts {
    return this.#counts;
  }

  #add(spans: number, attributes: Attributes): void {
    const error = attributes[ATTR_ERROR_TYPE];
    if (error === undefined) this.#counts.exported += spans;
    else if (error === 'queue_full') this.#counts.queueFull += spans;
    else this.#counts.failed += spans;
  }
}
