import { type ConsoleSources, viewTrace } from '@sluice/console';
import type { TracesConfiguration } from '@sluice/fleet/configuration';
import { UsageError, version } from '@sluice/platform/process';
import { type OtlpTracing, startMemoryTracing, startOtlpTracing, type Tracer } from '@sluice/telemetry';

type TracingOptions = Omit<Parameters<typeof startOtlpTracing>[0], 'endpoint' | 'ratio' | 'slowMs' | 'version'>;

/** One tracer per service, also if all services share a process: traces look the same either way. */
export type Tracers = Readonly<Record<'watcher' | 'reconciler' | 'writer', Tracer>>;

export interface Tracing {
  readonly tracers: Tracers;
  /** Exports pending spans and counts exported and dropped ones. */
  readonly exporter: OtlpTracing;
  /** Reads a trace that this process keeps; absent: it exports them. */
  readonly trace?: NonNullable<ConsoleSources['trace']>;
}

/** Spans reach their store in batches. In milliseconds. */
const flushMs = 1_000;

/**
 * Starts to export spans to the configured endpoint; undefined if there is none. `hasPage`: the process has a page, which can show
 * traces that it keeps.
 *
 * @throws UsageError if traces are to be kept in a process without a page
 */
export async function startTracing(
  { endpoint, ratio, slowMs }: TracesConfiguration,
  { hasPage = false, ...options }: TracingOptions & { readonly hasPage?: boolean },
): Promise<Tracing | undefined> {
  if (endpoint === undefined) return undefined;
  const all = { ...options, ratio, slowMs, version };
  if (endpoint !== 'memory') return tracingBy(await startOtlpTracing({ ...all, endpoint }));
  if (!hasPage) {
    throw new UsageError(
      '--otlp-endpoint memory (traces.endpoint) keeps traces for the page of "sluice run", which this process does not have; pass the URL of a collector',
    );
  }
  const { tracing, spans } = await startMemoryTracing(all);
  const trace = async (traceId: string) => {
    await tracing.flush(flushMs);
    return viewTrace(traceId, spans.of(traceId));
  };
  return { ...tracingBy(tracing), trace };
}

function tracingBy(exporter: OtlpTracing): Tracing {
  const tracers = {
    watcher: exporter.tracer('sluice-watcher'),
    reconciler: exporter.tracer('sluice-reconciler'),
    writer: exporter.tracer('sluice-writer'),
  };
  return { tracers, exporter };
}
