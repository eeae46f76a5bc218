/**
 * Where a trace goes on: the text of a W3C `traceparent`, `00-<trace id>-<span id>-<flags>`. A message carries it in its
 * record's headers under that name, where tools that know nothing of Sluice look for it.
 */
export type TraceParent = string;

export const traceHeader = 'traceparent';

/** As Sluice writes it: what is read of a record mostly is. */
const own = /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/;
const [noTrace, noSpan] = ['0'.repeat(32), '0'.repeat(16)];

/** Later versions of the header begin like version 00, with more behind. */
const form = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-|$)/;

/** The trace of a record; undefined if it has none, or none that can be read: a trace never stops a message. */
export function traceOf(headers: Readonly<Record<string, string>>): TraceParent | undefined {
  const text = headers[traceHeader];
  if (text === undefined) return undefined;
  if (own.test(text)) return text.startsWith(noTrace, 3) || text.startsWith(noSpan, 36) ? undefined : text;
  const parts = form.exec(text);
  if (parts === null || (text.length > 55 && text.startsWith('00'))) return undefined;
  return traceParent(parts[1] ?? '', parts[2] ?? '', (Number.parseInt(parts[3] ?? '', 16) & 1) === 1);
}

/** The same, if it is recorded; of most records this is told by their last letters. */
export function recordedTraceOf(headers: Readonly<Record<string, string>>): TraceParent | undefined {
  if (headers[traceHeader]?.endsWith('-00')) return undefined;
  const trace = traceOf(headers);
  return trace !== undefined && isSampled(trace) ? trace : undefined;
}

/** The headers of a record that belongs to a trace, or to none. */
export function traceHeaders(trace: TraceParent | undefined): Readonly<Record<string, string>> {
  return trace === undefined ? noHeaders : { [traceHeader]: trace };
}

const noHeaders: Readonly<Record<string, string>> = {};

export function traceParent(traceId: string, spanId: string, isSampled: boolean): TraceParent {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** Another span of the same trace. */
export const withSpan = (trace: TraceParent, spanId: string): TraceParent =>
  `${trace.slice(0, 36)}${spanId}${trace.slice(52)}`;

export const traceIdOf = (trace: TraceParent): string => trace.slice(3, 35);
export const spanIdOf = (trace: TraceParent): string => trace.slice(36, 52);
/** Whether its spans are recorded. */
export const isSampled = (trace: TraceParent): boolean => trace.endsWith('1');
/** The same place in a trace that is recorded after all. */
export const sampled = (trace: TraceParent): TraceParent => `${trace.slice(0, 53)}01`;

/** For log lines, by the name that OpenTelemetry has for it there. */
export function traceFields(trace: TraceParent | undefined): { readonly trace_id?: string } {
  return trace === undefined ? {} : { trace_id: traceIdOf(trace) };
}

/** Steps of one message, each of them a span: who knows the span of one knows those of the others. */
export const traceSteps = { publish: 0, make: 1, process: 2, commit: 3 } as const;
export type TraceStep = keyof typeof traceSteps;

/**
 * The span of a step of the message whose span `publish` is given: how it was made (watched, decided), committed, published
 * and processed. Their ids differ in the last digit, so that whoever has the message can name them all: after a crash, and
 * where a trace is recorded only because of how it ended.
 */
export function stepOf(trace: TraceParent, step: TraceStep): TraceParent {
  const digit = Number.parseInt(trace.charAt(51), 16) ^ traceSteps[step];
  return `${trace.slice(0, 51)}${digit.toString(16)}${trace.slice(52)}`;
}

/** How many traces are remembered that come together in one plan; of further ones nobody learns what carried them. */
export const maxTraces = 32;

/**
 * Traces that come together, the one to be continued first: the earliest that is recorded, or else the earliest. Others
 * that are not recorded are of no use to anybody.
 */
export function mergeTraces(
  a: readonly TraceParent[] | undefined,
  b: readonly TraceParent[] | undefined,
): readonly TraceParent[] | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const all = [...new Set([...a, ...b])];
  const recorded = all.filter(isSampled);
  return recorded.length > 0 ? recorded.slice(0, maxTraces) : all.slice(0, 1);
}
