export { type RecordedSpan, RecordedSpans, type RecordedTracerOptions } from './recorded-spans.ts';
