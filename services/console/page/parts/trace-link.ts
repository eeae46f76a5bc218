import type { Overview } from '../../src/view/schemas.ts';
import { recordedTrace } from '../format.ts';
import { html } from '../html.ts';
import { follows, pathOf } from '../router.ts';

/** Where traces are shown: by the console itself, in Jaeger, or nowhere. */
export type TracePlaces = Pick<Overview, 'jaeger' | 'traces'>;

/** Leads to the trace of what is told, if it was recorded and there is somewhere to look at it. */
export function TraceLink({ of, traces }: { of: { readonly traceparent?: string | undefined }; traces: TracePlaces }) {
  const traceId = recordedTrace(of.traceparent);
  if (traceId === undefined) return html`<span></span>`;
  if (traces.traces) {
    const place = { view: 'trace', traceId } as const;
    const open = (event: MouseEvent) => follows(event, place);
    return html`<a class="trace" href=${pathOf(place)} onClick=${open} title="where the time went">trace</a>`;
  }
  if (traces.jaeger === null) return html`<span></span>`;
  const href = traces.jaeger.replaceAll('{traceId}', traceId);
  return html`<a class="trace" href=${href} target="_blank" rel="noreferrer" title=${`trace ${traceId}`}>trace</a>`;
}
