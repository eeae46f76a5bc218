import type { OtlpTracing, OtlpTracingOptions } from './otlp-tracing.ts';

/** Starts to export spans. Loads OpenTelemetry's SDK, which a process without tracing does not need. */
export async function startOtlpTracing(options: OtlpTracingOptions): Promise<OtlpTracing> {
  const sdk = await import('./otlp-tracing.ts');
  return new sdk.OtlpTracing(options);
}
