export { parseScrape, type Sample, type Scrape, sampleOf } from './parse-scrape.ts';
export { type RecordedSpan, RecordedSpans, type RecordedTracerOptions } from './recorded-spans.ts';
