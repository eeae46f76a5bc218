import { useEffect, useState } from 'preact/hooks';
import type { TraceView as Trace } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { dateAndTime, fineDuration, plural } from '../format.ts';
import { html } from '../html.ts';
import { useKeys } from '../keys.ts';
import { Failed, Loading } from '../parts/notice.ts';
import { SpanRow } from '../parts/span-row.ts';
import { JaegerLink } from '../parts/trace-link.ts';
import { Link, navigate, type Route, wholeMs } from '../router.ts';
import { spentText } from '../spent-text.ts';
import { useLoaded } from '../use-loaded.ts';

/** A recent trace is reloaded, because its spans reach Jaeger one after the other. */
const reloadMs = 2_000;
const maxReloads = 8;
const ticks = [0, 0.25, 0.5, 0.75, 1];

/** The trace of one change, from observation to Outcome, as a waterfall. */
export function TraceView({ traceId }: { traceId: string }) {
  const [loaded, reload] = useLoaded((signal) => api.trace(traceId, signal), [traceId]);
  const [overview] = useLoaded(api.overview, []);
  const [openId, setOpenId] = useState<string>();
  const [reloads, setReloads] = useState(0);
  const trace = loaded.state === 'ready' ? loaded.value : undefined;
  const isRecent = trace === undefined || Date.now() - (trace.startedAt + trace.durationMs) < reloadMs * maxReloads;
  useEffect(() => {
    if (!isRecent || reloads >= maxReloads) return;
    const timer = setTimeout(() => {
      setReloads(reloads + 1);
      reload();
    }, reloadMs);
    return () => clearTimeout(timer);
  }, [isRecent, reloads]);
  const openIndex = trace?.spans.findIndex(({ id }) => id === openId) ?? -1;
  const move = (by: number) =>
    setOpenId(trace?.spans[Math.min(trace.spans.length - 1, Math.max(0, openIndex + by))]?.id);
  useKeys({
    Escape: () => (openId === undefined ? navigate(serviceOf(trace)) : setOpenId(undefined)),
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
  });
  if (trace === undefined) {
    return loaded.state === 'failed'
      ? html`<h1 class="visually-hidden">Trace</h1><${Failed} problem=${loaded.problem} />`
      : html`<${Loading} what="the trace" />`;
  }
  const jaeger = overview.state === 'ready' ? overview.value.jaeger : null;
  const failed = trace.spans.filter(({ error }) => error !== null).length;
  return html`<div class="trace-view">
    <header class="service-head">
      <h1>${trace.cause ?? `Trace ${trace.traceId}`}</h1>
      <span class="spacer"></span>
      <span class="total">${fineDuration(trace.durationMs)}</span>
    </header>
    <p class="about faint">
      <span class="spent">${spentText(trace.spent)}</span>
      <${Service} trace=${trace} />
      <span>${dateAndTime(trace.startedAt, true)}</span>
      <span>${plural(trace.spans.length, 'span')}${failed > 0 && html`, <b class="bad">${failed} failed</b>`}</span>
      ${trace.services.map((service) => html`<span class=${`who ${toneOf(service)}`}><i></i>${service}</span>`)}
      ${jaeger !== null && html`<${JaegerLink} jaeger=${jaeger} traceId=${trace.traceId}>open in Jaeger<//>`}
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
              open=${span.id === openId}
              toggle=${() => setOpenId(span.id === openId ? undefined : span.id)}
            />`,
        )}
      </ol>
    </section>
    <footer class="faint">trace ${trace.traceId}</footer>
  </div>`;
}

function Service({ trace: { service, startedAt, durationMs } }: { trace: Trace }) {
  if (service === null) return null;
  const now: Route = { view: 'service', service };
  const afterwards: Route = { ...now, at: wholeMs(startedAt + durationMs) };
  return html`<span
    ><${Link} class="trace" to=${now}>${service.namespace}/${service.name}<//> ·
    ${' '}<${Link} class="trace" to=${afterwards}>state after this change<//></span
  >`;
}

function serviceOf(trace: Trace | undefined): Route {
  return trace?.service ? { view: 'service', service: trace.service } : { view: 'services' };
}

const tones: Readonly<Record<string, string>> = {
  'sluice-watcher': 'watcher',
  'sluice-reconciler': 'reconciler',
  'sluice-writer': 'writer',
};
const toneOf = (service: string): string => tones[service] ?? 'other';
