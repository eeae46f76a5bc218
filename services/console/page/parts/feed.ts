import { useEffect, useRef, useState } from 'preact/hooks';
import type { RecentChange } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { timeOfDay } from '../format.ts';
import { html } from '../html.ts';
import { Link } from '../router.ts';
import { useUpdates } from '../stream.ts';
import { keyOf, mergeChanges } from './merge-changes.ts';
import { LatencyBar } from './status.ts';

const maxShown = 60;

/** The last writes, newest first. Pauses while the pointer is over it. */
export function Feed({ showsCluster }: { showsCluster: boolean }) {
  const [isPaused, setPaused] = useState(false);
  const pending = useRef<readonly RecentChange[]>([]);
  const [changes, setChanges] = useState<readonly RecentChange[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    api.changes(maxShown, abort.signal).then(
      ({ items }) => setChanges((newer) => mergeChanges(newer, items.filter(isRelevant), maxShown)),
      () => {},
    );
    return () => abort.abort();
  }, []);
  useUpdates(
    (update) => {
      const added = update.changes.filter(isRelevant);
      if (added.length === 0) return;
      pending.current = mergeChanges(added, pending.current, maxShown);
      if (!isPaused) flush();
    },
    [isPaused],
  );
  const flush = () => {
    const added = pending.current;
    pending.current = [];
    setChanges((old) => mergeChanges(added, old, maxShown));
  };
  const resume = () => {
    setPaused(false);
    flush();
  };
  return html`<aside class="feed" aria-label="last writes" onPointerEnter=${() => setPaused(true)} onPointerLeave=${resume}>
    <h2>Last writes ${isPaused && html`<span class="tag">paused</span>`}</h2>
    ${changes.length === 0 && html`<p class="faint">No writes yet. New writes appear here.</p>`}
    <ol>${changes.map((change) => html`<${Line} key=${keyOf(change)} change=${change} showsCluster=${showsCluster} />`)}</ol>
  </aside>`;
}

/** Whether a write changed traffic or failed. Writes of Endpoints repeat those of slices. */
function isRelevant({ added, removed, changed, status }: RecentChange): boolean {
  return added + removed + changed > 0 || status !== 'applied';
}

function Line({ change, showsCluster }: { change: RecentChange; showsCluster: boolean }) {
  const { clusterName, namespace, name, at, causes } = change;
  const [cause = 'no cause'] = causes;
  return html`<li class=${change.status === 'applied' ? '' : 'bad'}>
    <time>${timeOfDay(at, false)}</time>
    <${Link} to=${{ view: 'service', service: change }} title=${`${namespace}/${name}`}><small>${showsCluster && `${clusterName} · `}${namespace}/</small>${name}<//>
    <${Delta} change=${change} />
    <${LatencyBar} ms=${change.latencyMs} />
    <p>${cause.replace(` ${namespace}/`, ' ')}${causes.length > 1 && html` <small>+${causes.length - 1}</small>`}</p>
  </li>`;
}

function Delta({ change: { added, removed, changed, status } }: { change: RecentChange }) {
  if (status !== 'applied') return html`<span class="delta bad">${status}</span>`;
  return html`<span class="delta">
    ${added > 0 && html`<b class="added">+${added}</b>`} ${removed > 0 && html`<b class="removed">−${removed}</b>`}
    ${changed > 0 && html`<b class="changed">~${changed}</b>`}
  </span>`;
}
