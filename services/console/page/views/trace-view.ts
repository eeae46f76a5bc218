import { useEffect, useState } from 'preact/hooks';
import type { SpanView, TraceView as Trace } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { dateAndTime, fineDuration, plural } from '../format.ts';
import { html } from '../html.ts';
import { useKeys } from '../keys.ts';
import { useLoaded } from '../live.ts';
import { Failed, Loading } from '../parts/notice.ts';
import { SpanRow } from '../parts/span-row.ts';
import { follows, go, type Place, pathOf, wholeMs } from '../router.ts';

/** A trace that is just over comes to Jaeger in pieces. */
const refreshMs = 2_000;
const refreshes = 8;
const ticks = [0, 0.25, 0.5, 0.75, 1];

/** One change, from what was seen to the Outcome: a bar for each span, each below what led to it. */
export function TraceView({ traceId }: { traceId: string }) {
  const [loaded, askAgain] = useLoaded((signal) => api.trace(traceId, signal), [traceId]);
  const [overview] = useLoaded(api.overview, []);
  const [open, setOpen] = useState<string>();
  const [asked, setAsked] = useState(0);
  const trace = loaded.state === 'ready' ? loaded.value : undefined;
  const isFresh = trace === undefined || Date.now() - (trace.startedAt + trace.durationMs) < refreshMs * refreshes;
  useEffect(() => {
    if (!isFresh || asked >= refreshes) return;
    const timer = setTimeout(() => {
      setAsked(asked + 1);
      askAgain();
    }, refreshMs);
    return () => clearTimeout(timer);
  }, [isFresh, asked]);
  const shown = trace?.spans.findIndex(({ id }) => id === open) ?? -1;
  const move = (by: number) => setOpen(trace?.spans[Math.min(trace.spans.length - 1, Math.max(0, shown + by))]?.id);
  useKeys({
    Escape: () => (open === undefined ? go(serviceOf(trace)) : setOpen(undefined)),
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
  });
  if (trace === undefined) {
    return loaded.state === 'failed'
      ? html`<h1 class="unseen">Trace</h1><${Failed} problem=${loaded.problem} />`
      : html`<${Loading} what="the trace" />`;
  }
  const jaeger = overview.state === 'ready' ? overview.value.jaeger : null;
  const failed = trace.spans.filter(({ error }) => error !== null).length;
  return html`<div class="trace-view">
    <header class="service-head">
      <h1>${trace.cause ?? `Trace ${trace.traceId}`}</h1>
      <span class="spring"></span>
      <span class="total">${fineDuration(trace.durationMs)}</span>
    </header>
    <p class="about faint">
      <${Service} trace=${trace} />
      <span>${dateAndTime(trace.startedAt, true)}</span>
      <span>${plural(trace.spans.length, 'span')}${failed > 0 && html`, <b class="bad">${failed} failed</b>`}</span>
      ${trace.services.map((service) => html`<span class=${`who ${toneOf(service)}`}><i></i>${service}</span>`)}
      ${jaeger !== null && html`<a class="trace" href=${jaeger.replaceAll('{traceId}', trace.traceId)} target="_blank" rel="noreferrer">in Jaeger</a>`}
    </p>
    ${loaded.state === 'ready' && loaded.problem && html`<${Failed} problem=${loaded.problem} />`}
    <section class="waterfall" aria-label="spans">
      <div class="axis" aria-hidden="true">
        <span>span</span>
        <div>${ticks.map((share) => html`<small style=${{ left: `${share * 100}%` }}>${fineDuration(trace.durationMs * share)}</small>`)}</div>
      </div>
      <ol>
        ${trace.spans.map(
          (span) =>
            html`<${SpanRow}
              key=${span.id}
              span=${span}
              trace=${trace}
              tone=${toneOf(span.service)}
              open=${span.id === open}
              toggle=${() => setOpen(span.id === open ? undefined : span.id)}
            />`,
        )}
      </ol>
    </section>
    <footer class="faint">trace ${trace.traceId}${waitingText(trace.spans)}</footer>
  </div>`;
}

function Service({ trace: { service, startedAt, durationMs } }: { trace: Trace }) {
  if (service === null) return null;
  const now: Place = { view: 'service', service, at: undefined };
  const then: Place = { ...now, at: wholeMs(startedAt + durationMs) };
  const link = (to: Place, text: string) =>
    html`<a class="trace" href=${pathOf(to)} onClick=${(event: MouseEvent) => follows(event, to)}>${text}</a>`;
  return html`<span>${link(now, `${service.namespace}/${service.name}`)} · ${link(then, 'as it was after it')}</span>`;
}

function serviceOf(trace: Trace | undefined): Place {
  return trace?.service ? { view: 'service', service: trace.service, at: undefined } : { view: 'services' };
}

const tones: Readonly<Record<string, string>> = {
  'sluice-watcher': 'watcher',
  'sluice-reconciler': 'reconciler',
  'sluice-writer': 'writer',
};
const toneOf = (service: string): string => tones[service] ?? 'other';

/** What nobody was at work at was waiting: for the bus, a batch period, or other writes. */
function waitingText(spans: readonly SpanView[]): string {
  const inOrder = spans.toSorted((a, b) => a.startedAt - b.startedAt);
  let [waited, reached] = [0, inOrder[0]?.startedAt ?? 0];
  for (const { startedAt, durationMs } of inOrder) {
    waited += Math.max(0, startedAt - reached);
    reached = Math.max(reached, startedAt + durationMs);
  }
  return waited < 1 ? '' : ` · ${fineDuration(waited)} of it was waiting`;
}
