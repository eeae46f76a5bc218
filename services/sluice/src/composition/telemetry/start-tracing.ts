import type { TracesConfiguration } from '@sluice/fleet/configuration';
import { version } from '@sluice/platform/process';
import { startOtlpTracing, type Tracer } from '@sluice/telemetry';

type OtlpTracing = Awaited<ReturnType<typeof startOtlpTracing>>;
type TracingOptions = Omit<Parameters<typeof startOtlpTracing>[0], 'endpoint' | 'ratio' | 'slowMs' | 'version'>;

/** One tracer per service, also if all services share a process: traces look the same either way. */
export type Tracers = Readonly<Record<'watcher' | 'reconciler' | 'writer', Tracer>>;

export interface Tracing {
  readonly tracers: Tracers;
  /** Exports pending spans and counts exported and dropped ones. */
  readonly exporter: OtlpTracing;
}

/** Starts to export spans to the configured endpoint; undefined if there is none. */
export async function startTracing(
  { endpoint, ratio, slowMs }: TracesConfiguration,
  options: TracingOptions,
): Promise<Tracing | undefined> {
  if (endpoint === undefined) return undefined;
  const exporter = await startOtlpTracing({ ...options, endpoint, ratio, slowMs, version });
  const tracers = {
    watcher: exporter.tracer('sluice-watcher'),
    reconciler: exporter.tracer('sluice-reconciler'),
    writer: exporter.tracer('sluice-writer'),
  };
  return { tracers, exporter };
}
