import { useEffect, useRef, useState } from 'preact/hooks';
import { timeOfDay } from './format.ts';
import { html } from './html.ts';
import { keyHelp, useKeys } from './keys.ts';
import { type Connection, useConnection } from './live.ts';
import { follows, go, type Place, pathOf, titleOf, usePlace } from './router.ts';
import { everything } from './service-filter.ts';
import { FleetView } from './views/fleet-view.ts';
import { ServiceView } from './views/service-view.ts';
import { ServicesView } from './views/services-view.ts';
import { TraceView } from './views/trace-view.ts';

type Theme = 'dark' | 'light';

function useTheme(): readonly [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(() => {
    const kept = localStorage.getItem('theme');
    if (kept === 'dark' || kept === 'light') return kept;
    return matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
  });
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const toggle = () => {
    const next = theme === 'dark' ? 'light' : 'dark';
    localStorage.setItem('theme', next);
    setTheme(next);
  };
  return [theme, toggle];
}

export function App() {
  const place = usePlace();
  const connection = useConnection();
  const [theme, toggleTheme] = useTheme();
  const [help, setHelp] = useState(false);
  useEffect(() => {
    document.title = titleOf(place);
  }, [place]);
  useKeys({ t: toggleTheme, '?': () => setHelp(!help), g: () => go({ view: 'fleet' }) });
  return html`
    <header class="top">
      <a class="brand" href="/" onClick=${(event: MouseEvent) => follows(event, { view: 'services', filter: everything })}>
        <img src="/icon.svg" alt="" width="24" height="24" />Sluice
      </a>
      <nav aria-label="views">
        <${NavLink} to=${{ view: 'services' }} now=${place.view !== 'fleet'}>Services<//>
        <${NavLink} to=${{ view: 'fleet' }} now=${place.view === 'fleet'}>Fleet<//>
      </nav>
      <span class="spring"></span>
      <${Live} connection=${connection} />
      <button class="quiet" onClick=${() => setHelp(!help)} aria-label="keys" title="keys (?)">?</button>
      <button class="quiet" onClick=${toggleTheme} aria-label="dark or light" title="dark or light (t)">
        ${theme === 'dark' ? '☾' : '☀'}
      </button>
    </header>
    ${typeof connection === 'object' && html`<${Lost} at=${connection.lostAt} />`}
    ${help && html`<${KeyHelp} close=${() => setHelp(false)} />`}
    <main>${viewOf(place)}</main>
  `;
}

function Live({ connection }: { connection: Connection }) {
  if (connection === 'connecting') return html`<span class="live" role="status">connecting</span>`;
  const isOpen = connection === 'open';
  return html`<span class=${`live ${isOpen ? 'on' : 'off'}`} role="status">${isOpen ? 'live' : 'not connected'}</span>`;
}

function Lost({ at }: { at: number }) {
  return html`<p class="lost" role="alert">
    <strong>Sluice does not answer.</strong> Showing data from ${timeOfDay(at, false)}. Retrying.
  </p>`;
}

function viewOf(place: Place) {
  switch (place.view) {
    case 'services':
      return html`<${ServicesView} filter=${place.filter ?? everything} />`;
    case 'fleet':
      return html`<${FleetView} />`;
    case 'trace':
      return html`<${TraceView} key=${place.traceId} traceId=${place.traceId} />`;
    case 'service': {
      const { cluster, namespace, name } = place.service;
      return html`<${ServiceView} key=${`${cluster}/${namespace}/${name}`} service=${place.service} at=${place.at} />`;
    }
  }
}

function NavLink({ to, now, children }: { to: Place; now: boolean; children: unknown }) {
  return html`<a href=${pathOf(to)} aria-current=${now ? 'page' : undefined} onClick=${(e: MouseEvent) => follows(e, to)}
    >${children}</a
  >`;
}

function KeyHelp({ close }: { close: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useKeys({ Escape: close }, { first: true });
  useEffect(() => button.current?.focus(), []);
  return html`<aside class="keys" role="dialog" aria-label="keys">
    <dl>${keyHelp.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
    <button class="quiet" ref=${button} onClick=${close}>close</button>
  </aside>`;
}
