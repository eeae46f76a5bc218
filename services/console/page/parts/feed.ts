import { useEffect, useRef, useState } from 'preact/hooks';
import type { RecentChange } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { timeOfDay } from '../format.ts';
import { html } from '../html.ts';
import { useUpdates } from '../live.ts';
import { follows } from '../router.ts';
import { LatencyBar } from './latency-bar.ts';

const shown = 60;

/** What was written just now, newest first. It stands still while somebody points at it. */
export function Feed() {
  const [held, setHeld] = useState(false);
  const waiting = useRef<readonly RecentChange[]>([]);
  const [changes, setChanges] = useState<readonly RecentChange[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    api.changes(shown, abort.signal).then(
      ({ items }) => setChanges((newer) => [...newer, ...items.filter(isTold)].slice(0, shown)),
      () => {},
    );
    return () => abort.abort();
  }, []);
  useUpdates(
    (update) => {
      const told = update.changes.filter(isTold).toReversed();
      if (told.length === 0) return;
      waiting.current = [...told, ...waiting.current].slice(0, shown);
      if (!held) tell();
    },
    [held],
  );
  const tell = () => {
    const told = waiting.current;
    waiting.current = [];
    setChanges((old) => [...told, ...old].slice(0, shown));
  };
  const release = () => {
    setHeld(false);
    tell();
  };
  return html`<aside class="feed" aria-label="last writes" onPointerEnter=${() => setHeld(true)} onPointerLeave=${release}>
    <h2>Last writes ${held && html`<span class="tag">stands still</span>`}</h2>
    ${changes.length === 0 && html`<p class="faint">No writes yet. New writes appear here.</p>`}
    <ol>${changes.map((change) => html`<${Line} key=${keyOf(change)} change=${change} />`)}</ol>
  </aside>`;
}

/** What changed traffic, or failed. That Endpoints say the same a second time is no news. */
function isTold({ added, removed, changed, status }: RecentChange): boolean {
  return added + removed + changed > 0 || status !== 'applied';
}

const keyOf = ({ at, cluster, namespace, name, controller }: RecentChange): string =>
  [at, cluster, namespace, name, controller].join('/');

function Line({ change }: { change: RecentChange }) {
  const { cluster, namespace, name, at } = change;
  const service = { cluster, namespace, name };
  const href = `/services/${[cluster, namespace, name].map(encodeURIComponent).join('/')}`;
  const open = (event: MouseEvent) => follows(event, { view: 'service', service, at: undefined });
  return html`<li class=${change.status === 'applied' ? '' : 'bad'}>
    <time>${timeOfDay(at, false)}</time>
    <a href=${href} title=${`${namespace}/${name}`} onClick=${open}><small>${namespace}/</small>${name}</a>
    <${Delta} change=${change} />
    <${LatencyBar} ms=${change.latencyMs} />
    <p>${causeWithin(namespace, change.causes[0] ?? 'no cause')}${change.causes.length > 1 && html` <small>+${change.causes.length - 1}</small>`}</p>
  </li>`;
}

/** The Service's own namespace need not be said again. */
const causeWithin = (namespace: string, cause: string): string => cause.replace(` ${namespace}/`, ' ');

function Delta({ change: { added, removed, changed, status } }: { change: RecentChange }) {
  if (status !== 'applied') return html`<span class="delta bad">${status}</span>`;
  return html`<span class="delta">
    ${added > 0 && html`<b class="added">+${added}</b>`} ${removed > 0 && html`<b class="removed">−${removed}</b>`}
    ${changed > 0 && html`<b class="changed">~${changed}</b>`}
  </span>`;
}
