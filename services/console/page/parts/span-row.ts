import { useEffect, useRef } from 'preact/hooks';
import type { SpanView, TraceView } from '../../src/view/schemas.ts';
import { fineDuration } from '../format.ts';
import { html } from '../html.ts';
import { Link } from '../router.ts';

interface SpanRowProps {
  readonly span: SpanView;
  readonly trace: TraceView;
  readonly tone: string;
  readonly open: boolean;
  readonly toggle: () => void;
}

/** A span as a bar on the time axis of its trace; with its attributes if open. */
export function SpanRow({ span, trace, tone, open, toggle }: SpanRowProps) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (open) row.current?.scrollIntoView({ block: 'nearest' });
  }, [open]);
  const { name, service, durationMs, error, depth, links } = span;
  const total = Math.max(trace.durationMs, 0.001);
  const left = Math.min(100, ((span.startedAt - trace.startedAt) / total) * 100);
  const width = Math.min(100 - left, (durationMs / total) * 100);
  // The label is beside the bar, on the side with room.
  const label = left + width > 75 ? { right: `${100 - left}%` } : { left: `${left + width}%` };
  return html`<li class=${`span ${tone} ${open ? 'open' : ''} ${error === null ? '' : 'bad'}`} ref=${row}>
    <button onClick=${toggle} aria-expanded=${open} title=${`${service}: ${name}`}>
      <span class="name" style=${{ paddingLeft: `${depth * 14}px` }}><i></i><b>${shortName(span)}</b>${status(span)}</span>
      <span class="bar-area">
        <i style=${{ left: `${left}%`, width: `${width}%` }}></i>
        <small style=${label}>${fineDuration(durationMs)}${links.length > 0 && ' ⤳'}</small>
      </span>
    </button>
    ${error !== null && html`<p class="bad">${error}</p>`}
    ${open && html`<${Details} span=${span} />`}
  </li>`;
}

/** Names an API request by its object instead of its path. */
function shortName({ name, attributes }: SpanView): string {
  const [method, object] = [attributeOf(attributes, 'http.request.method'), attributeOf(attributes, 'sluice.object')];
  return method === undefined || object === undefined ? name : `${method} ${object}`;
}

/** Tags with the HTTP or Outcome status, retries, and whether another trace continues the span. */
function status({ attributes, links }: SpanView) {
  const code = attributeOf(attributes, 'http.response.status_code') ?? attributeOf(attributes, 'sluice.status');
  const retry = attributeOf(attributes, 'http.request.resend_count');
  return html`${code && html`<small class="tag">${code}</small>`}
    ${retry && html`<small class="tag">retry ${retry}</small>`}
    ${links.some(({ carries }) => !carries) && html`<small class="tag">continues in another trace</small>`}`;
}

const attributeOf = (attributes: SpanView['attributes'], wanted: string): string | undefined =>
  attributes.find(({ name }) => name === wanted)?.value;

function Details({ span }: { span: SpanView }) {
  return html`<dl>
    <dt>service</dt><dd>${span.service}</dd>
    ${span.attributes.map(({ name, value }) => html`<dt>${name}</dt><dd>${value}</dd>`)}
    ${span.links.map(
      ({ traceId, carries }) => html`<dt>${carries ? 'coalesced' : 'continues in'}</dt>
        <dd><${Link} class="trace" to=${{ view: 'trace', traceId }}>trace ${traceId}<//></dd>`,
    )}
  </dl>`;
}
