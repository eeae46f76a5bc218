import { useEffect, useState } from 'preact/hooks';
import type { HistoryView, ServiceDetail } from '../../src/view/schemas.ts';
import { api, type ServiceName } from '../api.ts';
import { ago, dateAndTime, plural, retentionText, withLocalTimes } from '../format.ts';
import { html } from '../html.ts';
import { useKeys } from '../keys.ts';
import { Failed, Loading } from '../parts/notice.ts';
import { PodBelts } from '../parts/pod-belts.ts';
import { PodTable } from '../parts/pod-table.ts';
import { SliceMap } from '../parts/slice-map.ts';
import { LatencyBar, ReadyBar, Status } from '../parts/status.ts';
import { TimeTravel } from '../parts/time-travel.ts';
import { Timeline } from '../parts/timeline.ts';
import type { TraceTargets } from '../parts/trace-link.ts';
import { navigate, wholeMs } from '../router.ts';
import { useUpdates } from '../stream.ts';
import { useLoaded, useNow } from '../use-loaded.ts';
import { adjacentTime } from './adjacent-time.ts';

interface ServiceViewProps {
  readonly service: ServiceName;
  /** The time shown; undefined: now. */
  readonly at: number | undefined;
}

/** Period in which changes of a busy Service are collected before a reload. */
const batchMs = 300;
/** With each, the Pods over time are read from the recording. */
const overviewMs = 30_000;

export function ServiceView({ service, at }: ServiceViewProps) {
  const [pod, setPod] = useState('');
  const [detail, reloadDetail] = useLoaded((signal) => api.service(service, at, signal), [at]);
  const [history, reloadHistory] = useLoaded((signal) => api.history(service, { limit: 1_000 }, signal), []);
  const [overview] = useLoaded(api.overview, [], overviewMs);
  const [changes, setChanges] = useState(0);
  useUpdates(({ services }) => {
    const isChanged = services.some(
      ({ cluster, clusterName, namespace, name }) =>
        namespace === service.namespace &&
        name === service.name &&
        (cluster === service.cluster || clusterName === service.cluster),
    );
    if (isChanged) setChanges((n) => n + 1);
  }, []);
  useEffect(() => {
    if (changes === 0) return;
    const timer = setTimeout(() => {
      reloadHistory();
      if (at === undefined) reloadDetail();
    }, batchMs);
    return () => clearTimeout(timer);
  }, [changes]);

  const entries = history.state === 'ready' ? history.value.entries : [];
  const travel = (to: number | undefined, replace = false) => navigate({ view: 'service', service, at: to }, replace);
  const step = (by: -1 | 1) => travel(adjacentTime(entries, at, by));
  useKeys({
    Escape: () => (pod ? setPod('') : navigate({ view: 'services' })),
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    l: () => travel(undefined),
  });

  if (detail.state === 'loading') return html`<${Loading} what=${`${service.namespace}/${service.name}`} />`;
  if (detail.state === 'failed') {
    return html`<h1 class="visually-hidden">${service.namespace}/${service.name}</h1><${Failed} problem=${detail.problem}>
      ${at !== undefined && html`<button class="button" onClick=${() => travel(undefined)}>show now</button>`}
    <//>`;
  }
  const { live, kind, pods, slices } = detail.value;
  const targets = overview.state === 'ready' ? overview.value : { jaeger: null, traces: false };
  return html`<div class=${`service ${live ? '' : 'past'}`} data-at=${live ? undefined : detail.value.at}>
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
        ${
          overview.state === 'ready' &&
          overview.value.recording !== null &&
          html`<${PodBelts} service=${service} until=${wholeMs(overview.value.recording.to)} />`
        }
      </div>
      <${HistoryColumn} history=${history} pod=${pod} clear=${() => setPod('')} at=${at} travel=${travel} targets=${targets} />
    </div>
  </div>`;
}

function Head({ detail }: { detail: ServiceDetail }) {
  const { summary, notes, endpoints, kind } = detail;
  const now = useNow();
  return html`<header class="service-head">
      <h1><small>${summary.clusterName} / ${summary.namespace} /</small> ${summary.name}</h1>
      <${Status} status=${summary.status} problem=${summary.problem} />
      <${ReadyBar} ready=${summary.ready} endpoints=${summary.endpoints} />
      <span class="faint"
        >${kind && `${kindText(kind)} · `}${plural(summary.slices, 'slice')}${
          endpoints && ` · Endpoints: ${endpoints.ready} ready, ${endpoints.notReady} not ready`
        }</span
      >
      <span class="spacer"></span>
      ${
        summary.lastChangeAt !== null &&
        html`<span class="last"><span class="faint">last write ${detail.live ? ago(summary.lastChangeAt, now) : dateAndTime(summary.lastChangeAt)}</span>
          <${LatencyBar} ms=${summary.lastLatencyMs} /></span>`
      }
    </header>
    ${summary.problem && html`<ul class=${`notes ${summary.status}`}><li>${summary.problem}</li></ul>`}
    ${notes.length > 0 && html`<ul class=${`notes ${summary.status}`}>${notes.map((note) => html`<li>${withLocalTimes(note)}</li>`)}</ul>`}`;
}

function kindText({ type, headless, selector }: NonNullable<ServiceDetail['kind']>): string {
  const labels = Object.entries(selector ?? {}).map(([name, value]) => `${name}=${value}`);
  const selectorText = selector === null ? 'no selector' : `selector ${labels.join(', ') || '(every Pod)'}`;
  return type === 'ExternalName' ? type : `${headless ? 'headless' : type} · ${selectorText}`;
}

interface HistoryColumnProps {
  readonly history: ReturnType<typeof useLoaded<HistoryView>>[0];
  readonly pod: string;
  readonly clear: () => void;
  readonly at: number | undefined;
  readonly travel: (at: number | undefined) => void;
  readonly targets: TraceTargets;
}

function HistoryColumn({ history, pod, clear, at, travel, targets }: HistoryColumnProps) {
  if (history.state === 'loading') return html`<section><h2>History</h2><${Loading} what="the history" /></section>`;
  if (history.state === 'failed')
    return html`<section><h2>History</h2><${Failed} problem=${history.problem} /></section>`;
  const { since, retentionMs, total } = history.value;
  return html`<section class="history" aria-label="history">
    <h2>
      History ${pod && html`<button class="chip chosen" onClick=${clear} title="show all Pods (Esc)">${pod} ×</button>`}
    </h2>
    <${Timeline} entries=${history.value.entries} pod=${pod} at=${at} travel=${travel} targets=${targets} />
    <footer class="faint">
      ${plural(total, 'entry', 'entries')} since ${dateAndTime(since)}${retentionText(retentionMs)}
    </footer>
  </section>`;
}
