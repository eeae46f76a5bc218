import { type Attributes, createNoopMeter, type Meter, type MeterProvider, TraceFlags } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, getNumberFromEnv } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type BatchSpanProcessorOptions,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import {
  ATTR_ERROR_TYPE,
  ATTR_K8S_CLUSTER_NAME,
  ATTR_K8S_CLUSTER_UID,
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_NAMESPACE,
  ATTR_SERVICE_VERSION,
} from '@opentelemetry/semantic-conventions';
import { METRIC_OTEL_SDK_PROCESSOR_SPAN_PROCESSED } from '@opentelemetry/semantic-conventions/incubating';
import { type Clock, type Logger, type Random, sleep } from '@sluice/platform';
import type { SpanCounts } from '../metrics.ts';
import type { Tracer } from '../traces/tracer.ts';
import { SdkTracer } from './sdk-tracer.ts';

export interface OtlpTracingOptions {
  /** URL of the collector's OTLP/HTTP trace endpoint. */
  readonly endpoint: string;
  /** Share of the traces that are sampled at their beginning, 0 to 1. */
  readonly ratio: number;
  readonly slowMs: number;
  readonly systems: Tracer['systems'];
  readonly fleet: string;
  /** Id of this process in the fleet. */
  readonly member: string;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Names of clusters by identity, as far as they are known. */
interface ClusterNames {
  get(identity: string): string | undefined;
}

/** Maximum number of queued spans, unless `OTEL_BSP_MAX_QUEUE_SIZE` is set. The failure of a Node causes thousands at once. */
const maxQueueSize = 8_192;

/** For the log: some collectors have their key in the path. */
const originOf = (endpoint: string): string => URL.parse(endpoint)?.origin ?? '';

/**
 * Batches the spans of all services of this process and exports them as OTLP (protobuf over HTTP). The exporter reads its
 * headers, compression, timeout and certificates from `OTEL_EXPORTER_OTLP_*`.
 */
export class OtlpTracing {
  readonly #options: OtlpTracingOptions;
  readonly #counter = new SpanCounter();
  readonly #exporter: SpanExporter;
  readonly #processor: BatchSpanProcessor;
  #clusters: ClusterNames | undefined;
  /** Sampled spans that have ended. */
  #ended = 0;

  constructor(options: OtlpTracingOptions, exporter: SpanExporter = new OTLPTraceExporter({ url: options.endpoint })) {
    this.#options = options;
    this.#exporter = loggedExporter(exporter, options.logger.with({ endpoint: originOf(options.endpoint) }));
    this.#processor = new BatchSpanProcessor({
      exporter: this.#exporter,
      selfObsMeterProvider: this.#counter.meterProvider,
      ...batchOptions(),
    });
  }

  /** The spans that left this process so far, or were dropped. */
  get counts(): SpanCounts {
    return this.#counter.counts;
  }

  /** Spans that begin from now on have the name of their cluster beside its UID. */
  nameClusters(names: ClusterNames): void {
    this.#clusters = names;
  }

  /** The tracer of one service, for example `sluice-watcher`. */
  tracer(service: string): Tracer {
    const counting: SpanProcessor = {
      onStart: (span) => {
        const name = this.#clusters?.get(String(span.attributes[ATTR_K8S_CLUSTER_UID] ?? ''));
        if (name !== undefined) span.setAttribute(ATTR_K8S_CLUSTER_NAME, name);
      },
      onEnd: (span) => {
        if (span.spanContext().traceFlags & TraceFlags.SAMPLED) this.#ended++;
      },
      forceFlush: async () => {},
      shutdown: async () => {},
    };
    const spanProcessors = [counting, this.#processor];
    return new SdkTracer({ ...this.#options, resource: this.#resource(service), spanProcessors });
  }

  /** Exports the queue, for `limitMs` at most. */
  async flush(limitMs: number): Promise<void> {
    await this.#within(limitMs, async () => {
      await this.#processor.forceFlush();
      await this.#exporter.forceFlush?.();
    });
  }

  /**
   * Exports the queue, for `limitMs` at most, and accepts no more spans. Logs how many spans were not exported. Returns
   * 'abandoned' if an export was still in progress: the exporter's timers then keep the event loop alive for some seconds.
   */
  async close(limitMs: number): Promise<'closed' | 'abandoned'> {
    const finished = await this.#within(limitMs, () => this.#processor.shutdown());
    const dropped = this.#ended - this.counts.exported;
    if (dropped > 0) {
      const { endpoint, logger } = this.#options;
      const fields = { endpoint: originOf(endpoint), dropped };
      logger.warn('spans were not exported; the collector did not accept them', fields);
    }
    return finished ? 'closed' : 'abandoned';
  }

  /** Returns false if the action took longer. A failed export is logged and counted when it happens. */
  async #within(limitMs: number, action: () => Promise<void>): Promise<boolean> {
    const done = new AbortController();
    const finished = action()
      .catch(() => {})
      .finally(() => done.abort());
    await Promise.race([finished, sleep(this.#options.clock, limitMs, done.signal)]);
    return done.signal.aborted;
  }

  /** `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME` take precedence. */
  #resource(service: string): Resource {
    const { fleet, member, version } = this.#options;
    const own = resourceFromAttributes({
      [ATTR_SERVICE_NAME]: service,
      [ATTR_SERVICE_NAMESPACE]: fleet,
      [ATTR_SERVICE_INSTANCE_ID]: member,
      [ATTR_SERVICE_VERSION]: version,
    });
    return defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] }));
  }
}

/** OpenTelemetry's variables for the batch processor, which the SDK itself does not read. */
function batchOptions(): Omit<BatchSpanProcessorOptions, 'exporter'> {
  const scheduledDelayMillis = getNumberFromEnv('OTEL_BSP_SCHEDULE_DELAY');
  const exportTimeoutMillis = getNumberFromEnv('OTEL_BSP_EXPORT_TIMEOUT');
  const maxExportBatchSize = getNumberFromEnv('OTEL_BSP_MAX_EXPORT_BATCH_SIZE');
  return {
    maxQueueSize: getNumberFromEnv('OTEL_BSP_MAX_QUEUE_SIZE') ?? maxQueueSize,
    ...(scheduledDelayMillis !== undefined && { scheduledDelayMillis }),
    ...(exportTimeoutMillis !== undefined && { exportTimeoutMillis }),
    ...(maxExportBatchSize !== undefined && { maxExportBatchSize }),
  };
}

/** Logs when exports begin to fail and when they succeed again. */
function loggedExporter(exporter: SpanExporter, logger: Logger): SpanExporter {
  let isFailing = false;
  const observe = ({ code, error }: ExportResult): void => {
    const fails = code !== ExportResultCode.SUCCESS;
    if (fails === isFailing) return;
    isFailing = fails;
    if (fails) logger.warn('trace export failed; dropping spans', { reason: error?.message ?? 'unknown' });
    else logger.info('trace export succeeds again');
  };
  return {
    export: (spans, callback) =>
      exporter.export(spans, (result) => {
        observe(result);
        callback(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

/** Counts spans by what the SDK reports about its batch processor. Everything else it reports is ignored. */
class SpanCounter {
  readonly counts = { exported: 0, queueFull: 0, failed: 0 };
  readonly meterProvider: MeterProvider;

  constructor() {
    const processed = {
      add: (spans: number, { [ATTR_ERROR_TYPE]: error }: Attributes = {}) => {
        this.counts[error === undefined ? 'exported' : error === 'queue_full' ? 'queueFull' : 'failed'] += spans;
      },
    };
    const ignored = createNoopMeter();
    const meter: Meter = Object.create(ignored, {
      createCounter: {
        value: (name: string) =>
          name === METRIC_OTEL_SDK_PROCESSOR_SPAN_PROCESSED ? processed : ignored.createCounter(name),
      },
    });
    this.meterProvider = { getMeter: () => meter };
  }
}
