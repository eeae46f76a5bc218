import { type Causes, isSampled, traceIdOf } from '@sluice/messages';

/** The trace id that serves as the exemplar of a plan's latency; undefined if the trace is not sampled. */
export function exemplarOf({ traces }: Causes): string | undefined {
  const trace = traces?.[0];
  return trace !== undefined && isSampled(trace) ? traceIdOf(trace) : undefined;
}
