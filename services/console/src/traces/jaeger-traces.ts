import type { ConsoleSources } from '../ports.ts';
import type { TraceView } from '../view/schemas.ts';
import { readJaegerTrace } from './read-trace.ts';

/** How long Jaeger may take for one trace, in milliseconds. */
const timeoutMs = 10_000;
/** Of one answer. A trace of Sluice has some 20 spans of 1 kB. */
const maxBytes = 16 * 1024 * 1024;

/** Where a console has traces from: nowhere, unless it is told where Jaeger is. */
export function tracesFrom(queryUrl: string | undefined): ConsoleSources['trace'] {
  return queryUrl === undefined ? undefined : (traceId) => traceFromJaeger(queryUrl, traceId);
}

/**
 * Asks Jaeger's query API at this address for a trace; null: it has none of that id.
 *
 * @throws Error, in words for people, where it does not answer, or not with a trace
 */
export async function traceFromJaeger(
  queryUrl: string,
  traceId: string,
  limitMs = timeoutMs,
): Promise<TraceView | null> {
  const text = await get(`${queryUrl.replace(/\/+$/, '')}/api/traces/${traceId}`, limitMs);
  if (text === null) return null;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Error(`${queryUrl} is not a Jaeger query API: the response is not JSON`);
  }
  return readJaegerTrace(body);
}

/** Null: status 404, which is how Jaeger says that it has no such trace. */
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
    throw new Error(reasonOf(error, origin, limitMs), { cause: error });
  }
  if (status === 404) return null;
  if (status !== 200) throw new Error(`${origin} returned HTTP status ${status}`);
  if (bytes > maxBytes) throw new Error(`the trace at ${origin} is larger than ${maxBytes / 1024 / 1024} MiB`);
  return Buffer.concat(chunks).toString('utf8');
}

/** What fetch wraps tells more than "fetch failed". */
function reasonOf(error: unknown, origin: string, limitMs: number): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `no response from ${origin} within ${limitMs / 1_000} s`;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = cause instanceof Error ? cause.message || ('code' in cause ? String(cause.code) : cause.name) : cause;
  return `cannot reach ${origin}: ${reason}`;
}
