import { useEffect, useState } from 'preact/hooks';
import type { HistoryView, ServiceDetail } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { ago, dateAndTime, plural, retentionText, withLocalTimes } from '../format.ts';
import { html } from '../html.ts';
import { useKeys } from '../keys.ts';
import { bandsOf } from '../parts/bands.ts';
import { Failed, Loading } from '../parts/notice.ts';
import { PodBelts } from '../parts/pod-belts.ts';
import { PodTable } from '../parts/pod-table.ts';
import { SliceMap } from '../parts/slice-map.ts';
import { LatencyBar, ReadyBar, Status } from '../parts/status.ts';
import { TimeRangeBar } from '../parts/time-range-bar.ts';
import { TimeTravel } from '../parts/time-travel.ts';
import { Timeline } from '../parts/timeline.ts';
import type { TraceTargets } from '../parts/trace-link.ts';
import { recordedEnd } from '../recorded-end.ts';
import { Link, navigate, type ServiceRoute, wholeMs } from '../router.ts';
import { useUpdates } from '../stream.ts';
import { isWithin, type TimeRange, within, zoomed } from '../time-range.ts';
import { type Loaded, useLoaded, useNow } from '../use-loaded.ts';
import { adjacentTime } from './adjacent-time.ts';

/** Period in which changes of a busy Service are collected before a reload. */
const batchMs = 300;
/** With each, the Pods over time are read from the recording. */
const overviewMs = 30_000;
/** Default period of the Pods over time. */
const podsMs = 3_600_000;

export function ServiceView({ route }: { route: ServiceRoute }) {
  const { service, at, range, pod = '' } = route;
  const go = (to: Partial<ServiceRoute>, replace = false) => navigate({ ...route, ...to }, replace);
  const choose = (chosen: string) => go({ pod: chosen || undefined }, true);
  const [detail, reloadDetail] = useLoaded((signal) => api.service(service, at, signal), [at]);
  const [history, reloadHistory] = useLoaded(
    (signal) => api.history(service, { limit: 1_000, ...range }, signal),
    [range?.since, range?.until],
  );
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
  const travel = (to: number | undefined, replace = false) => go({ at: to }, replace);
  const step = (by: -1 | 1) => travel(adjacentTime(entries, at, by));
  const end = overview.state === 'ready' ? recordedEnd(overview.value) : undefined;
  const all = useBounds(history, end);
  const shown = range ?? {
    since: Math.min(Math.floor(entries[0]?.at ?? all.since), all.until - 1_000),
    until: all.until,
  };
  const bands = overview.state === 'ready' ? bandsOf({ entries }, overview.value, service.cluster, all.until) : [];
  /** The time shown stays within the range. */
  const show = (wanted: TimeRange | undefined) => {
    const chosen = wanted && within(all, wanted);
    const isShown = chosen === undefined || (at === undefined ? chosen.until >= all.until : isWithin(chosen, at));
    go({ range: chosen, ...(!isShown && { at: chosen.until }) });
  };
  const zoom = (factor: number) => show(zoomed(shown, factor, at ?? all.until));
  useKeys({
    Escape: () => (pod ? choose('') : navigate({ view: 'services' })),
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    l: () => travel(undefined),
    '+': () => zoom(0.5),
    '=': () => zoom(0.5),
    '-': () => zoom(2),
    0: () => show(undefined),
  });

  if (detail.state === 'loading') return html`<${Loading} what=${`${service.namespace}/${service.name}`} />`;
  if (detail.state === 'failed') {
    return html`<h1 class="visually-hidden">${service.namespace}/${service.name}</h1><${Failed} problem=${detail.problem}>
      ${at !== undefined && html`<button class="button" onClick=${() => travel(undefined)}>show now</button>`}
    <//>`;
  }
  const { live, kind, pods, slices } = detail.value;
  /** Ages make sense only if there is a present. */
  const shownAt = live ? end : detail.value.at;
  const targets = overview.state === 'ready' ? overview.value : { jaeger: null, traces: false };
  return html`<div class=${`service ${live ? '' : 'past'}`} data-at=${live ? undefined : detail.value.at}>
    <${Head} detail=${detail.value} hasAges=${shownAt === undefined} hasClusters=${overview.state === 'ready' && overview.value.clusters.length > 1} />
    ${detail.problem && html`<${Failed} problem=${detail.problem} />`}
    ${
      history.state === 'ready' &&
      // It says whether there is a present.
      overview.state !== 'loading' &&
      html`<div class="travel" role="group" aria-label="time travel">
        <${TimeTravel} history=${history.value} bands=${bands} at=${at} shown=${shown} travel=${travel} step=${step} show=${show} />
        <${TimeRangeBar} route=${route} all=${all} show=${show} zoom=${zoom} />
      </div>`
    }
    <div class="columns">
      <div>
        <${SliceMap} slices=${slices} chosen=${pod} choose=${choose} />
        ${
          (kind === null || kind.selector !== null || pods.length > 0) &&
          html`<${PodTable} pods=${pods} at=${shownAt} chosen=${pod} choose=${choose} />`
        }
        ${
          overview.state === 'ready' &&
          overview.value.recording !== null &&
          html`<${PodBelts} route=${route} period=${range ?? podsPeriod(at, wholeMs(overview.value.recording.to))} />`
        }
      </div>
      <${HistoryColumn} history=${history} pod=${pod} clear=${() => choose('')} at=${at} range=${range} travel=${travel} targets=${targets} />
    </div>
  </div>`;
}

/** The whole history until now, or to the end of a recording. */
function useBounds(history: Loaded<HistoryView>, end: number | undefined): TimeRange {
  const clock = useNow();
  const until = wholeMs(end ?? clock);
  const since = history.state === 'ready' ? history.value.since : until;
  return { since: Math.floor(Math.min(since, until - 1_000)), until };
}

/** An hour around the time shown. */
function podsPeriod(at: number | undefined, end: number): TimeRange {
  const until = at === undefined ? end : Math.min(end, at + podsMs / 2);
  return { since: until - podsMs, until };
}

interface HeadProps {
  readonly detail: ServiceDetail;
  readonly hasAges: boolean;
  /** Whether the Service may be in other clusters. */
  readonly hasClusters: boolean;
}

function Head({ detail, hasAges, hasClusters }: HeadProps) {
  const { summary, joinedAs, notes, endpoints, kind } = detail;
  const now = useNow();
  return html`<header class="service-head">
      <h1><small>${summary.clusterName} / ${summary.namespace} /</small> ${summary.name}</h1>
      <${Status} status=${summary.status} reason=${summary.reason} />
      <${ReadyBar} ...${summary} />
      <span class="faint"
        >${kind && `${kindText(kind)} · `}${plural(summary.slices, 'slice')}${
          endpoints && ` · Endpoints: ${endpoints.ready} ready, ${endpoints.notReady} not ready`
        }</span
      >
      ${
        hasClusters &&
        joinedAs !== null &&
        html`<${Link} class="trace" to=${{ view: 'logicalService', namespace: summary.namespace, name: joinedAs }}>all clusters<//>`
      }
      <span class="spacer"></span>
      ${
        summary.lastChangeAt !== null &&
        html`<span class="last"><span class="faint">last write ${hasAges ? ago(summary.lastChangeAt, now) : dateAndTime(summary.lastChangeAt)}</span>
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
  readonly history: Loaded<HistoryView>;
  readonly pod: string;
  readonly clear: () => void;
  readonly at: number | undefined;
  readonly range: TimeRange | undefined;
  readonly travel: (at: number | undefined) => void;
  readonly targets: TraceTargets;
}

function HistoryColumn({ history, pod, clear, at, range, travel, targets }: HistoryColumnProps) {
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
      ${plural(total, 'entry', 'entries')}
      ${range ? ` from ${dateAndTime(range.since)} to ${dateAndTime(range.until)}` : ` since ${dateAndTime(since)}${retentionText(retentionMs)}`}
    </footer>
  </section>`;
}
