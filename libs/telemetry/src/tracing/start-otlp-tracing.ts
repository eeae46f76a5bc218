import type { OtlpTracing, OtlpTracingOptions } from './otlp-tracing.ts';
import type { RecentSpans } from './recent-spans.ts';

/** Starts to export spans. Loads OpenTelemetry's SDK, which a process without tracing does not need. */
export async function startOtlpTracing(options: OtlpTracingOptions): Promise<OtlpTracing> {
  const sdk = await import('./otlp-tracing.ts');
  return new sdk.OtlpTracing(options);
}

/** Starts to keep the last spans in this process, in place of exporting them. */
export async function startMemoryTracing(
  options: Omit<OtlpTracingOptions, 'endpoint'>,
): Promise<{ readonly tracing: OtlpTracing; readonly spans: RecentSpans }> {
  const [sdk, { RecentSpans }] = await Promise.all([import('./otlp-tracing.ts'), import('./recent-spans.ts')]);
  const spans = new RecentSpans();
  return { spans, tracing: new sdk.OtlpTracing({ ...options, endpoint: 'memory' }, spans) };
}
