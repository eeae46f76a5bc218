/**
 * W3C trace context of a message: the value of the record header `traceparent`, `00-<trace id>-<span id>-<flags>`, followed
 * by a space and the value of `tracestate` if there is one.
 */
export type TraceContext = string;

const parentHeader = 'traceparent';
const stateHeader = 'tracestate';

/** The form that Sluice writes (specification version 00). */
const version00 = /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/;
const [noTrace, noSpan] = ['0'.repeat(32), '0'.repeat(16)];

/** Later versions start like version 00 and may append fields. */
const anyVersion = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-|$)/;

const parentLength = 55;

/** The length that the specification requires to be propagated. A longer tracestate is dropped. */
const maxStateLength = 512;

/** The trace context of a record; undefined if it is missing or invalid, because a trace never blocks a message. */
export function traceOf(headers: Readonly<Record<string, string>>): TraceContext | undefined {
  const text = headers[parentHeader];
  if (text === undefined) return undefined;
  const parent = version00.test(text) ? validParent(text) : parentOfAnyVersion(text);
  const state = headers[stateHeader];
  if (parent === undefined || state === undefined) return parent;
  return state.length <= maxStateLength && /^[\x21-\x7e][\x20-\x7e]*$/.test(state) ? `${parent} ${state}` : parent;
}

function validParent(text: string): string | undefined {
  return text.startsWith(noTrace, 3) || text.startsWith(noSpan, 36) ? undefined : text;
}

function parentOfAnyVersion(text: string): string | undefined {
  const [matched, traceId = '', spanId = '', flags = ''] = anyVersion.exec(text) ?? [];
  if (matched === undefined || (text.length > parentLength && text.startsWith('00'))) return undefined;
  return traceContext(traceId, spanId, (Number.parseInt(flags, 16) & 1) === 1);
}

/** The trace context of a record if it is sampled. The suffix check skips most unsampled records cheaply. */
export function sampledTraceOf(headers: Readonly<Record<string, string>>): TraceContext | undefined {
  if (headers[parentHeader]?.endsWith('-00')) return undefined;
  const context = traceOf(headers);
  return context !== undefined && isSampled(context) ? context : undefined;
}

/** The headers for a trace context; empty if it is undefined. */
export function traceHeaders(context: TraceContext | undefined): Readonly<Record<string, string>> {
  if (context === undefined) return noHeaders;
  if (context.length === parentLength) return { [parentHeader]: context };
  return { [parentHeader]: context.slice(0, parentLength), [stateHeader]: context.slice(parentLength + 1) };
}

const noHeaders: Readonly<Record<string, string>> = {};

export function traceContext(traceId: string, spanId: string, isSampled: boolean): TraceContext {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** The same trace with another span id. */
export const withSpan = (context: TraceContext, spanId: string): TraceContext =>
  `${context.slice(0, 36)}${spanId}${context.slice(52)}`;

export const traceIdOf = (context: TraceContext): string => context.slice(3, 35);
export const spanIdOf = (context: TraceContext): string => context.slice(36, 52);
export const isSampled = (context: TraceContext): boolean => context.charAt(54) === '1';
/** The same span, sampled. */
export const sampled = (context: TraceContext): TraceContext =>
  `${context.slice(0, 53)}01${context.slice(parentLength)}`;

/** Fields of a log line, named as in OpenTelemetry's log data model. */
export function traceFields(context: TraceContext | undefined): { readonly trace_id?: string } {
  return context === undefined ? {} : { trace_id: traceIdOf(context) };
}

/** The spans of a message: publish, create (watch or decide), process and commit. */
const siblings = { publish: 0, create: 1, process: 2, commit: 3 } as const;
type SiblingSpan = keyof typeof siblings;

/**
 * A sibling of a message's span `publish`. Sibling ids differ only in the last digit, so every process that has the message
 * can derive all of them, even after a crash or when a trace is sampled by its outcome.
 */
export function siblingOf(publish: TraceContext, sibling: SiblingSpan): TraceContext {
  const digit = Number.parseInt(publish.charAt(51), 16) ^ siblings[sibling];
  return `${publish.slice(0, 51)}${digit.toString(16)}${publish.slice(52)}`;
}

/** Maximum number of traces kept per plan; the spans of others are not linked to it. */
export const maxTraces = 32;

/**
 * Merges the traces of coalesced Changes. The first one is continued: the earliest sampled one, or the earliest if none is
 * sampled. Of the others, only sampled ones are kept.
 */
export function mergeTraces(
  a: readonly TraceContext[] | undefined,
  b: readonly TraceContext[] | undefined,
): readonly TraceContext[] | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const all = [...new Set([...a, ...b])];
  const recorded = all.filter(isSampled);
  return recorded.length > 0 ? recorded.slice(0, maxTraces) : all.slice(0, 1);
}
