import { useEffect, useRef, useState } from 'preact/hooks';
import type { Overview } from '../src/view/schemas.ts';
import { api } from './api.ts';
import { inUrl } from './cluster-names.ts';
import { dateAndTime, outageText, plural, shortTime } from './format.ts';
import { html } from './html.ts';
import { keyHelp, useKeys } from './keys.ts';
import { noLogicalFilter } from './logical-service-filter.ts';
import { Legend } from './parts/legend.ts';
import { recordedEnd } from './recorded-end.ts';
import { Link, navigate, type Route, titleOf, useRoute } from './router.ts';
import { noFilter } from './service-filter.ts';
import { type Connection, useConnection } from './stream.ts';
import { useLoaded } from './use-loaded.ts';
import { useStored } from './use-stored.ts';
import { FleetView } from './views/fleet-view.ts';
import { LogicalServiceView } from './views/logical-service-view.ts';
import { LogicalServicesView } from './views/logical-services-view.ts';
import { RecordingView } from './views/recording-view.ts';
import { ServiceView } from './views/service-view.ts';
import { ServicesView } from './views/services-view.ts';
import { TraceView } from './views/trace-view.ts';

const overviewMs = 5_000;

type Theme = 'dark' | 'light';

function useTheme(): readonly [Theme, () => void] {
  const [stored, store] = useStored('theme');
  const preferred = matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
  const theme = stored === 'dark' || stored === 'light' ? stored : preferred;
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  return [theme, () => store(theme === 'dark' ? 'light' : 'dark')];
}

export function App() {
  const route = useRoute();
  const connection = useConnection();
  const [theme, toggleTheme] = useTheme();
  const [help, setHelp] = useState(false);
  const [loaded] = useLoaded(api.overview, [], overviewMs);
  const overview = loaded.state === 'ready' ? loaded.value : undefined;
  useEffect(() => {
    document.title = titleOf(route);
  }, [route]);
  const toggleHelp = () => setHelp(!help);
  useKeys({
    t: toggleTheme,
    '?': toggleHelp,
    g: () => navigate({ view: 'fleet' }),
    c: () => navigate({ view: 'logicalServices' }),
  });
  const current = (isCurrent: boolean) => (isCurrent ? 'page' : undefined);
  return html`
    <header class="top">
      <${Link} class="brand" to=${{ view: 'services', filter: noFilter }}>
        <img src="/icon.svg" alt="" width="24" height="24" />Sluice
      <//>
      <nav aria-label="views">
        <${Link} to=${{ view: 'services' }} aria-current=${current(['services', 'service', 'trace'].includes(route.view))}>Services<//>
        ${overview && html`<${OptionalLinks} overview=${overview} view=${route.view} />`}
        <${Link} to=${{ view: 'fleet' }} aria-current=${current(route.view === 'fleet')}>Fleet<//>
      </nav>
      <span class="spacer"></span>
      <${ConnectionStatus} connection=${connection} overview=${overview} />
      <button class="quiet" onClick=${toggleHelp} aria-label="keys and signs" title="keys and signs (?)">?</button>
      <button class="quiet" onClick=${toggleTheme} aria-label="switch theme" title="switch theme (t)">
        ${theme === 'dark' ? '☾' : '☀'}
      </button>
    </header>
    ${
      typeof connection === 'object' &&
      html`<p class="lost" role="alert">
        <strong>Sluice does not answer.</strong> Showing data from ${shortTime(connection.lostAt, Date.now())}. Retrying.
      </p>`
    }
    ${overview && html`<${Outages} overview=${overview} />`}
    ${help && html`<${Help} close=${() => setHelp(false)} />`}
    <main>${viewOf(route)}</main>
  `;
}

/** To views that need several clusters, or a recording. */
function OptionalLinks({ overview: { clusters, recording }, view }: { overview: Overview; view: Route['view'] }) {
  const isOfClusters = view === 'logicalServices' || view === 'logicalService';
  const link = (text: string, to: Route, isCurrent: boolean) =>
    html`<${Link} to=${to} aria-current=${isCurrent ? 'page' : undefined}>${text}<//>`;
  return html`
    ${(clusters.length > 1 || isOfClusters) && link('Clusters', { view: 'logicalServices' }, isOfClusters)}
    ${recording !== null && link('Recording', { view: 'recording', question: 'outages', period: '1h' }, view === 'recording')}
  `;
}

/** More have one line together. */
const maxOutages = 2;

/** What does not answer, or that a recording is shown without its clusters. */
function Outages({ overview }: { overview: Overview }) {
  const { outage, clusters, recording } = overview;
  const end = recordedEnd(overview);
  if (end !== undefined) {
    return html`<p class="lost recorded" role="status">
      <strong>A recording, which ends at ${dateAndTime(end)}.</strong> Its last state takes the place of the present.
      ${recording?.isRedacted && ' Names, addresses, labels and messages are pseudonyms.'}
    </p>`;
  }
  const ofClusters = clusters.flatMap((cluster) => (cluster.outage ? [{ what: cluster.name, ...cluster.outage }] : []));
  const outages = outage === null ? ofClusters : [outage];
  if (outages.length > maxOutages) {
    return html`<p class="lost" role="alert">
      <${Link} to=${{ view: 'fleet' }}><strong>${outages.length} of ${clusters.length} clusters do not answer</strong> ›<//>
      Their state is shown as of the time when they last did.
    </p>`;
  }
  return outages.map(
    (one) => html`<p class="lost" role="alert" key=${one.what}>
      <strong>${outageText(one)}.</strong> Its state is shown as of that time.
    </p>`,
  );
}

interface ConnectionStatusProps {
  readonly connection: Connection;
  readonly overview: Overview | undefined;
}

function ConnectionStatus({ connection, overview }: ConnectionStatusProps) {
  const status = (style: string, text: string) => html`<span class=${`live ${style}`} role="status">${text}</span>`;
  if (connection === 'connecting') return status('', 'connecting');
  if (connection !== 'open') return status('off', 'disconnected');
  if (overview && recordedEnd(overview) !== undefined) return status('', 'recorded');
  const lost = overview && lostText(overview);
  return lost ? status('partly', `live, ${lost} lost`) : status('on', 'live');
}

/** `2 clusters`; empty: everything that is shown is current. */
function lostText({ outage, clusters }: Overview): string {
  const lost = clusters.filter((cluster) => cluster.outage !== undefined).length;
  return outage?.what ?? (lost === 0 ? '' : plural(lost, 'cluster'));
}

function viewOf(route: Route) {
  switch (route.view) {
    case 'services':
      return html`<${ServicesView} filter=${route.filter ?? noFilter} />`;
    case 'fleet':
      return html`<${FleetView} />`;
    case 'logicalServices':
      return html`<${LogicalServicesView} filter=${route.filter ?? noLogicalFilter} />`;
    case 'logicalService':
      return html`<${LogicalServiceView} key=${`${route.namespace}/${route.name}`} route=${route} />`;
    case 'recording':
      return html`<${RecordingView} route=${route} />`;
    case 'trace':
      return html`<${TraceView} key=${route.traceId} traceId=${route.traceId} />`;
    case 'service': {
      const { cluster, namespace, name } = route.service;
      return html`<${ServiceView} key=${`${inUrl(cluster)}/${namespace}/${name}`} route=${route} />`;
    }
  }
}

function Help({ close }: { close: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useKeys({ Escape: close }, { first: true });
  useEffect(() => button.current?.focus(), []);
  return html`<div class="help" role="dialog" aria-label="keys and signs">
    <dl class="keys">${keyHelp.map(([key, action]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${action}</dd></div>`)}</dl>
    <${Legend} />
    <button class="quiet" ref=${button} onClick=${close}>close</button>
  </div>`;
}
