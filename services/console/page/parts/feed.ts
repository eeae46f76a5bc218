import { useEffect, useRef, useState } from 'preact/hooks';
import type { RecentChange } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { timeOfDay } from '../format.ts';
import { html } from '../html.ts';
import { Link } from '../router.ts';
import { useUpdates } from '../stream.ts';
import { useStored } from '../use-stored.ts';
import { keyOf, mergeChanges } from './merge-changes.ts';
import { LatencyBar } from './status.ts';

const maxShown = 60;

/** The last writes, newest first. */
export function Feed({ showsCluster }: { showsCluster: boolean }) {
  const [mode, setMode] = useStored('feed');
  if (mode !== 'collapsed')
    return html`<${OpenFeed} showsCluster=${showsCluster} isHeld=${mode === 'paused'} setMode=${setMode} />`;
  return html`<aside class="feed collapsed" aria-label="last writes">
    <button class="quiet" onClick=${() => setMode('')} aria-label="show last writes" title="show last writes">«</button>
  </aside>`;
}

interface OpenFeedProps {
  readonly showsCluster: boolean;
  /** By its button. It also pauses while the pointer is over it. */
  readonly isHeld: boolean;
  readonly setMode: (mode: '' | 'paused' | 'collapsed') => void;
}

function OpenFeed({ showsCluster, isHeld, setMode }: OpenFeedProps) {
  const [isPointed, setPointed] = useState(false);
  const isPaused = isHeld || isPointed;
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
  useEffect(() => {
    if (!isPaused) flush();
  }, [isPaused]);
  const pause = isHeld ? 'continue' : 'pause';
  return html`<aside class="feed" aria-label="last writes" onPointerEnter=${() => setPointed(true)} onPointerLeave=${() => setPointed(false)}>
    <header>
      <h2>Last writes</h2>
      ${isPaused && html`<span class="tag">paused</span>`}
      <span class="spacer"></span>
      <button class="quiet" aria-pressed=${isHeld} onClick=${() => setMode(isHeld ? '' : 'paused')} aria-label="pause" title=${pause}>
        ${isHeld ? '▶' : '‖'}
      </button>
      <button class="quiet" onClick=${() => setMode('collapsed')} aria-label="hide last writes" title="hide last writes">»</button>
    </header>
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
    ${added > 0 && html`<b class="added" title="added endpoints">+${added}</b>`} ${removed > 0 && html`<b class="removed" title="removed endpoints">−${removed}</b>`}
    ${changed > 0 && html`<b class="changed" title="changed endpoints">~${changed}</b>`}
  </span>`;
}
