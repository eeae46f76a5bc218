import type { Clock, Logger, Random } from '@sluice/runtime';
import { SamplingTracer, SpanBuffer, type SpanCounts, type Tracer } from '@sluice/telemetry';
import type { TracesConfiguration } from '../../configuration/configuration.ts';
import type { Environment } from '../../configuration/environment-layer.ts';
import { version } from '../../system/version.ts';
import type { ServiceSpan } from './otlp-sender.ts';
import type { TracedService, Tracers } from './tracers.ts';

export interface TracingOptions {
  readonly systems: Tracer['systems'];
  readonly fleet: string;
  /** Of this process. */
  readonly member: string;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface Tracing {
  readonly tracers: Tracers;
  /** What became of the spans so far. */
  readonly counts: SpanCounts;
  /** Delivers what waits, within the time. */
  flush(limitMs: number): Promise<void>;
  /** The same, and ends. */
  close(limitMs: number): Promise<void>;
}

/** Undefined: nothing is to be traced. */
export async function startTracing(
  { endpoint, ratio, slowMs }: TracesConfiguration,
  options: TracingOptions,
): Promise<Tracing | undefined> {
  if (endpoint === undefined) return undefined;
  const { clock, random, logger, systems } = options;
  // Large, and of use to nobody who does not trace.
  const { otlpSender } = await import('./otlp-sender.ts');
  const sender = otlpSender(endpoint);
  const buffer = new SpanBuffer<ServiceSpan>({
    clock,
    send: (spans) => sender.send(spans),
    onState: (delivers, reason) => {
      if (delivers) logger.info('traces are delivered again', { endpoint });
      else logger.warn('traces cannot be delivered; spans are dropped', { endpoint, reason });
    },
  });
  const tracer = (service: TracedService): Tracer => {
    const resource = resourceOf(service, options);
    return new SamplingTracer({ ratio, slowMs, systems, random, sink: (span) => buffer.add({ span, resource }) });
  };
  return {
    tracers: { watcher: tracer('watcher'), reconciler: tracer('reconciler'), writer: tracer('writer') },
    get counts() {
      return buffer.counts;
    },
    flush: (limitMs) => buffer.flush(limitMs),
    async close(limitMs) {
      await buffer.flush(limitMs);
      await sender.close();
    },
  };
}

/** OpenTelemetry's conventions for services; its variables add to them or take their place. */
function resourceOf(service: TracedService, { fleet, member, environment }: TracingOptions) {
  return {
    'service.name': `sluice-${service}`,
    'service.namespace': fleet,
    'service.instance.id': member,
    'service.version': version,
    ...attributesOf(environment.OTEL_RESOURCE_ATTRIBUTES ?? ''),
    ...(environment.OTEL_SERVICE_NAME && { 'service.name': environment.OTEL_SERVICE_NAME }),
  };
}

/** `key=value,key=value`, values in percent-encoding. What is not of that form is left out. */
function attributesOf(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair): [string, string][] => {
    const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    if (key === undefined || value === undefined) return [];
    try {
      return [[key, decodeURIComponent(value)]];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(pairs);
}
