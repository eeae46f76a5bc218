import type { TraceView } from '../view/schemas.ts';

/** What Jaeger's query API answers, as the console shows a trace; null if there is none in it. Loaded when it is needed. */
export async function readJaegerTrace(body: unknown): Promise<TraceView | null> {
  return (await import('./jaeger-trace.ts')).readJaegerTrace(body);
}
