import type { TracesConfiguration } from '@sluice/configuration';
import { version } from '@sluice/process';
import type { Clock, Logger, Random } from '@sluice/runtime';
import { type SpanCounts, startOtlpTracing, type Tracer } from '@sluice/telemetry';
import type { Tracers } from './tracers.ts';

export interface TracingOptions {
  readonly systems: Tracer['systems'];
  readonly fleet: string;
  /** Id of this process in the fleet. */
  readonly member: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface Tracing {
  readonly tracers: Tracers;
  readonly counts: SpanCounts;
  /** Exports the spans that wait, for `limitMs` at most. */
  flush(limitMs: number): Promise<void>;
  /** Exports the spans that wait, for `limitMs` at most, and accepts no more. */
  close(limitMs: number): Promise<void>;
}

/** Starts to export spans to the configured endpoint; undefined if there is none. */
export async function startTracing(
  { endpoint, ratio, slowMs }: TracesConfiguration,
  options: TracingOptions,
): Promise<Tracing | undefined> {
  if (endpoint === undefined) return undefined;
  const tracing = await startOtlpTracing({ ...options, endpoint, ratio, slowMs, version });
  return {
    tracers: {
      watcher: tracing.tracer('sluice-watcher'),
      reconciler: tracing.tracer('sluice-reconciler'),
      writer: tracing.tracer('sluice-writer'),
    },
    get counts() {
      return tracing.counts;
    },
    flush: (limitMs) => tracing.flush(limitMs),
    close: (limitMs) => tracing.close(limitMs),
  };
}
