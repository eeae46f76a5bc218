import { type Command, InvalidArgumentError } from 'commander';
import { durationFlag } from './settings-options.ts';

/** Flags for tracing (docs/guides/tracing.md). */
export interface TracesOptions {
  /** OTLP/HTTP endpoint with its path. Undefined: tracing is off. */
  readonly otlpEndpoint?: string | undefined;
  /** Share of the traces to record, 0 to 1. */
  readonly traceRatio: number;
  /** Changes that take longer are always recorded, in milliseconds. */
  readonly traceSlow: number;
}

/** A low ratio keeps the overhead small; failed and slow changes are recorded anyway. */
export const defaultTraces = { traceRatio: 0.05, traceSlow: 1_000 } as const;

/** Adds the flags for tracing. */
export function addTracesOptions(command: Command): Command {
  return command
    .optionsGroup('Traces:')
    .option('--otlp-endpoint <url>', 'OTLP/HTTP endpoint for traces, e.g. http://127.0.0.1:4318', parseEndpoint)
    .option(
      '--trace-ratio <share>',
      `share of changes to trace, 0 to 1; failed and slow ones are always traced (default ${defaultTraces.traceRatio})`,
      parseRatio,
    )
    .option('--trace-slow <duration>', 'a change that takes longer than this is slow (default 1s)', durationFlag);
}

/** The options as flags for a child process. */
export function tracesFlags({ otlpEndpoint, traceRatio, traceSlow }: Partial<TracesOptions>): readonly string[] {
  return [
    ...(otlpEndpoint === undefined ? [] : ['--otlp-endpoint', otlpEndpoint]),
    ...(traceRatio === undefined ? [] : ['--trace-ratio', String(traceRatio)]),
    ...(traceSlow === undefined ? [] : ['--trace-slow', `${traceSlow}ms`]),
  ];
}

/** Parses an OTLP endpoint; without a path, OpenTelemetry's path for traces is added. @throws InvalidArgumentError */
export function parseEndpoint(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new InvalidArgumentError(`not a URL such as http://127.0.0.1:4318`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidArgumentError('contains credentials; set OTEL_EXPORTER_OTLP_HEADERS instead');
  }
  if (url.pathname === '/') url.pathname = '/v1/traces';
  return url.href;
}

/** Parses the address of a trace in a UI, which must contain `{traceId}`. @throws InvalidArgumentError */
export function parseTraceUrl(text: string): string {
  const url = URL.parse(text.replaceAll('{traceId}', '0'));
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && text.includes('{traceId}')) return text;
  throw new InvalidArgumentError('not a URL such as http://127.0.0.1:16686/trace/{traceId}');
}

/** Parses the address of Jaeger's query API. @throws InvalidArgumentError */
export function parseQueryUrl(text: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && url.username === '' && url.search === '' && url.hash === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return url.href.replace(/(?<!\/)\/+$/, '');
  throw new InvalidArgumentError('not a URL such as http://127.0.0.1:16686, without credentials');
}

/** @throws InvalidArgumentError */
export function parseRatio(text: string): number {
  const share = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (share >= 0 && share <= 1) return share;
  throw new InvalidArgumentError(`"${text}" is not a ratio from 0 to 1, such as 0.05`);
}
