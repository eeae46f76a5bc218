import type { Overview } from '../../src/view/schemas.ts';
import { sampledTrace } from '../format.ts';
import { html } from '../html.ts';
import { Link } from '../router.ts';

/** Where traces are shown: in the console, in the Jaeger UI, or nowhere. */
export type TraceTargets = Pick<Overview, 'jaeger' | 'traces'>;

interface TraceLinkProps {
  readonly of: { readonly traceparent?: string | undefined };
  readonly targets: TraceTargets;
}

/** A link to the trace of an entry, if it is sampled and shown somewhere. */
export function TraceLink({ of, targets: { jaeger, traces } }: TraceLinkProps) {
  const traceId = sampledTrace(of.traceparent);
  if (traceId === undefined || (!traces && jaeger === null)) return html`<span></span>`;
  if (traces) return html`<${Link} class="trace" to=${{ view: 'trace', traceId }} title="show the trace">trace<//>`;
  return html`<${JaegerLink} jaeger=${jaeger} traceId=${traceId}>trace<//>`;
}

export function JaegerLink({
  jaeger,
  traceId,
  children,
}: {
  readonly jaeger: string;
  readonly traceId: string;
  readonly children?: unknown;
}) {
  const href = jaeger.replaceAll('{traceId}', traceId);
  return html`<a class="trace" href=${href} target="_blank" rel="noreferrer" title=${`trace ${traceId}`}>${children}</a>`;
}
