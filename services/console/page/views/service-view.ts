import { useEffect, useState } from 'preact/hooks';
import type { HistoryView, ServiceDetail } from '../../src/view/schemas.ts';
import { api, type ServiceName } from '../api.ts';
import { ago, dateAndTime, duration, plural } from '../format.ts';
import { html } from '../html.ts';
import { useKeys } from '../keys.ts';
import { useLoaded, useNow, useUpdates } from '../live.ts';
import { LatencyBar } from '../parts/latency-bar.ts';
import { Failed, Loading } from '../parts/notice.ts';
import { PodTable } from '../parts/pod-table.ts';
import { SliceMap } from '../parts/slice-map.ts';
import { ReadyBar, Status } from '../parts/status.ts';
import { TimeTravel } from '../parts/time-travel.ts';
import { Timeline } from '../parts/timeline.ts';
import type { TracePlaces } from '../parts/trace-link.ts';
import { go } from '../router.ts';
import { neighbour } from './neighbour.ts';

interface ServiceViewProps {
  readonly service: ServiceName;
  /** Showing data from this time; undefined: of now. */
  readonly at: number | undefined;
}

/** So many changes of a busy Service are one question to the server. */
const settleMs = 300;

export function ServiceView({ service, at }: ServiceViewProps) {
  const [pod, setPod] = useState('');
  const [detail, askDetail] = useLoaded((signal) => api.service(service, at, signal), [at]);
  const [history, askHistory] = useLoaded((signal) => api.history(service, { limit: 1_000 }, signal), []);
  const [overview] = useLoaded(api.overview, []);
  const [dirty, setDirty] = useState(0);
  useUpdates(({ services }) => {
    const here = services.some(
      ({ cluster, clusterName, namespace, name }) =>
        namespace === service.namespace &&
        name === service.name &&
        (cluster === service.cluster || clusterName === service.cluster),
    );
    if (here) setDirty((n) => n + 1);
  }, []);
  useEffect(() => {
    if (dirty === 0) return;
    const timer = setTimeout(() => {
      askHistory();
      if (at === undefined) askDetail();
    }, settleMs);
    return () => clearTimeout(timer);
  }, [dirty]);

  const entries = history.state === 'ready' ? history.value.entries : [];
  const travel = (to: number | undefined, replace = false) => go({ view: 'service', service, at: to }, replace);
  const step = (by: -1 | 1) => travel(neighbour(entries, at, by));
  useKeys({
    Escape: () => (pod ? setPod('') : go({ view: 'services' })),
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    l: () => travel(undefined),
  });

  if (detail.state === 'loading') return html`<${Loading} what=${`${service.namespace}/${service.name}`} />`;
  if (detail.state === 'failed') {
    return html`<h1 class="unseen">${service.namespace}/${service.name}</h1><${Failed} problem=${detail.problem}>
      ${at !== undefined && html`<button class="button" onClick=${() => travel(undefined)}>show now</button>`}
    <//>`;
  }
  const { live, kind, pods, slices } = detail.value;
  const traces = overview.state === 'ready' ? overview.value : { jaeger: null, traces: false };
  return html`<div class=${`service ${live ? '' : 'then'}`} data-at=${live ? undefined : detail.value.at}>
    <${Head} detail=${detail.value} />
    ${detail.problem && html`<${Failed} problem=${detail.problem} />`}
    ${
      history.state === 'ready' &&
      html`<${TimeTravel} history=${history.value} at=${at} travel=${travel} step=${step} />`
    }
    <div class="columns">
      <div>
        <${SliceMap} slices=${slices} chosen=${pod} choose=${setPod} />
        ${
          (kind === null || kind.selector !== null || pods.length > 0) &&
          html`<${PodTable} pods=${pods} at=${live ? undefined : detail.value.at} chosen=${pod} choose=${setPod} />`
        }
      </div>
      <${HistoryColumn} history=${history} pod=${pod} clear=${() => setPod('')} at=${at} travel=${travel} traces=${traces} />
    </div>
  </div>`;
}

function Head({ detail }: { detail: ServiceDetail }) {
  const { summary, notes, endpoints, kind } = detail;
  const now = useNow();
  return html`<header class="service-head">
      <h1><small>${summary.clusterName} / ${summary.namespace} /</small> ${summary.name}</h1>
      <${Status} status=${summary.status} />
      <${ReadyBar} ready=${summary.ready} endpoints=${summary.endpoints} />
      <span class="faint"
        >${kind && `${kindText(kind)} · `}${plural(summary.slices, 'slice')}${
          endpoints && ` · Endpoints: ${endpoints.ready} ready, ${endpoints.notReady} not`
        }</span
      >
      <span class="spring"></span>
      ${
        summary.lastChangeAt !== null &&
        html`<span class="last"><span class="faint">last write ${detail.live ? ago(summary.lastChangeAt, now) : dateAndTime(summary.lastChangeAt)}</span>
          <${LatencyBar} ms=${summary.lastLatencyMs} /></span>`
      }
    </header>
    ${notes.length > 0 && html`<ul class=${`notes ${summary.status}`}>${notes.map((note) => html`<li>${note}</li>`)}</ul>`}`;
}

function kindText({ type, headless, selector }: NonNullable<ServiceDetail['kind']>): string {
  const labels = Object.entries(selector ?? {}).map(([name, value]) => `${name}=${value}`);
  const selects = selector === null ? 'no selector' : `selects ${labels.join(', ') || 'every Pod'}`;
  return type === 'ExternalName' ? type : `${headless ? 'headless' : type} · ${selects}`;
}

interface HistoryColumnProps {
  readonly history: ReturnType<typeof useLoaded<HistoryView>>[0];
  readonly pod: string;
  readonly clear: () => void;
  readonly at: number | undefined;
  readonly travel: (at: number | undefined) => void;
  readonly traces: TracePlaces;
}

function HistoryColumn({ history, pod, clear, at, travel, traces }: HistoryColumnProps) {
  if (history.state === 'loading') return html`<section><h2>History</h2><${Loading} what="the history" /></section>`;
  if (history.state === 'failed')
    return html`<section><h2>History</h2><${Failed} problem=${history.problem} /></section>`;
  const { since, retentionMs, total } = history.value;
  return html`<section class="history" aria-label="history">
    <h2>
      History ${pod && html`<button class="chip chosen" onClick=${clear} title="show all (Esc)">${pod} ×</button>`}
    </h2>
    <${Timeline} entries=${history.value.entries} pod=${pod} at=${at} travel=${travel} traces=${traces} />
    <footer class="faint">
      ${plural(total, 'entry', 'entries')} since ${dateAndTime(since)}; kept for ${duration(retentionMs)}
    </footer>
  </section>`;
}
