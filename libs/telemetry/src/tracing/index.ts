export { OtlpTracing, type OtlpTracingOptions } from './otlp-tracing.ts';
