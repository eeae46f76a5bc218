import { useEffect, useRef } from 'preact/hooks';
import type { SpanView, TraceView } from '../../src/view/schemas.ts';
import { fineDuration } from '../format.ts';
import { html } from '../html.ts';
import { follows, pathOf } from '../router.ts';

interface SpanRowProps {
  readonly span: SpanView;
  readonly trace: TraceView;
  readonly tone: string;
  readonly open: boolean;
  readonly toggle: () => void;
}

/** A span as a bar where it was in the time of its trace; open, with all that it tells. */
export function SpanRow({ span, trace, tone, open, toggle }: SpanRowProps) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (open) row.current?.scrollIntoView({ block: 'nearest' });
  }, [open]);
  const { name, service, durationMs, error, depth, links } = span;
  const total = Math.max(trace.durationMs, 0.001);
  const left = Math.min(100, ((span.startedAt - trace.startedAt) / total) * 100);
  const width = Math.min(100 - left, (durationMs / total) * 100);
  // Beside the bar, on the side on which there is room.
  const label = left + width > 75 ? { right: `${100 - left}%` } : { left: `${left + width}%` };
  return html`<li class=${`span ${tone} ${open ? 'open' : ''} ${error === null ? '' : 'bad'}`} ref=${row}>
    <button onClick=${toggle} aria-expanded=${open} title=${`${service}: ${name}`}>
      <span class="name" style=${{ paddingLeft: `${depth * 14}px` }}><i></i><b>${shortName(span)}</b>${status(span)}</span>
      <span class="lane">
        <i style=${{ left: `${left}%`, width: `${width}%` }}></i>
        <small style=${label}>${fineDuration(durationMs)}${links.length > 0 && ' ⤳'}</small>
      </span>
    </button>
    ${error !== null && html`<p class="bad">${error}</p>`}
    ${open && html`<${Details} span=${span} />`}
  </li>`;
}

/** A request by what it was about; the path of all such requests tells less. */
function shortName({ name, attributes }: SpanView): string {
  const of = (wanted: string) => attributes.find((attribute) => attribute.name === wanted)?.value;
  const [method, object] = [of('http.request.method'), of('sluice.object')];
  return method === undefined || object === undefined ? name : `${method} ${object}`;
}

/** What tells at a glance how it went: the answer of an API server, or that another trace goes on with it. */
function status({ attributes, links }: SpanView) {
  const of = (wanted: string) => attributes.find(({ name }) => name === wanted)?.value;
  const answer = of('http.response.status_code') ?? of('sluice.status');
  const retry = of('http.request.resend_count');
  return html`${answer && html`<small class="tag">${answer}</small>`}
    ${retry && html`<small class="tag">retry ${retry}</small>`}
    ${links.some(({ carries }) => !carries) && html`<small class="tag">continues in another trace</small>`}`;
}

function Details({ span }: { span: SpanView }) {
  return html`<dl>
    <dt>service</dt><dd>${span.service}</dd>
    ${span.attributes.map(({ name, value }) => html`<dt>${name}</dt><dd>${value}</dd>`)}
    ${span.links.map(({ traceId, carries }) => {
      const place = { view: 'trace', traceId } as const;
      const open = (event: MouseEvent) => follows(event, place);
      return html`<dt>${carries ? 'coalesced with' : 'continues in'}</dt>
        <dd><a class="trace" href=${pathOf(place)} onClick=${open}>trace ${traceId}</a></dd>`;
    })}
  </dl>`;
}
