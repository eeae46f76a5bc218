import { type ConsoleSources, fetchFailure } from '../ports.ts';
import type { TraceView } from '../view/schemas.ts';

/** Timeout of a request to Jaeger. */
const timeoutMs = 10_000;
/** Maximum size of a response. A trace of Sluice has about 20 spans of 1 kB. */
const maxBytes = 16 * 1024 * 1024;

/** Traces from Jaeger's query API at this URL; undefined if there is none. */
export function jaegerTraces(queryUrl: string | undefined): ConsoleSources['trace'] {
  return queryUrl === undefined ? undefined : (traceId) => fetchTrace(queryUrl, traceId);
}

/**
 * Reads a trace from Jaeger's query API; null if there is none with this id.
 *
 * @throws Error with a message for people if Jaeger does not answer with a trace
 */
export async function fetchTrace(queryUrl: string, traceId: string, limitMs = timeoutMs): Promise<TraceView | null> {
  const text = await get(`${queryUrl.replace(/(?<!\/)\/+$/, '')}/api/traces/${traceId}`, limitMs);
  if (text === null) return null;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Error(`${queryUrl} is not a Jaeger query API: the response is not JSON`);
  }
  return (await import('./parse-jaeger-trace.ts')).parseJaegerTrace(body);
}

/** Null for status 404, with which Jaeger answers for an unknown trace. */
async function get(url: string, limitMs: number): Promise<string | null> {
  const { origin } = new URL(url);
  let status: number;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(limitMs) });
    status = response.status;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      throw new Error(`no response from ${origin} within ${limitMs / 1_000} s`, { cause: error });
    throw new Error(`cannot reach ${origin}: ${fetchFailure(error)}`, { cause: error });
  }
  if (status === 404) return null;
  if (status !== 200) throw new Error(`${origin} returned HTTP status ${status}`);
  if (bytes > maxBytes) throw new Error(`the trace at ${origin} is larger than ${maxBytes / 1024 / 1024} MiB`);
  return Buffer.concat(chunks).toString('utf8');
}
