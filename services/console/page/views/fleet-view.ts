import type { z } from 'zod';
import type { clusterView, deadLetterView, parkedView, partitionView } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { dateAndTime, duration, plural } from '../format.ts';
import { html } from '../html.ts';
import { useKeys } from '../keys.ts';
import { type Loaded, useLoaded } from '../live.ts';
import { Empty, Failed, Loading } from '../parts/notice.ts';
import { follows, go } from '../router.ts';

type Cluster = z.infer<typeof clusterView>;
type Partition = z.infer<typeof partitionView>;
type Parked = z.infer<typeof parkedView>;
type DeadLetter = z.infer<typeof deadLetterView>;

const refreshMs = 5_000;

/** Clusters, who works on what, and what needs a person. */
export function FleetView() {
  useKeys({ Escape: () => go({ view: 'services' }) });
  const [overview] = useLoaded(api.overview, [], refreshMs);
  const [parked] = useLoaded((signal) => api.items<Parked>('parked', signal), [], refreshMs);
  const [partitions] = useLoaded((signal) => api.items<Partition>('partitions', signal), [], refreshMs);
  const [letters] = useLoaded((signal) => api.items<DeadLetter>('dead-letters', signal), [], refreshMs);
  return html`<div class="fleet">
    <h1 class="unseen">Fleet</h1>
    <section>
      <h2>Clusters</h2>
      ${shown(overview, 'clusters', ({ clusters }) => html`<${Clusters} clusters=${clusters} />`)}
      ${
        overview.state === 'ready' &&
        html`<p class="faint">
          Sluice ${overview.value.version} · history since
          ${overview.value.since === null ? ' now' : ` ${dateAndTime(overview.value.since)}`}, kept for
          ${` ${duration(overview.value.retentionMs)}`}, ${(overview.value.historyBytes / 1024 / 1024).toFixed(1)} MiB
        </p>`
      }
    </section>
    <section>
      <h2>Refused writes</h2>
      ${shown(parked, 'refused writes', ({ items }) => html`<${ParkedList} items=${items} />`)}
    </section>
    <section>
      <h2>Partitions</h2>
      ${shown(partitions, 'partitions', ({ items }) => html`<${Partitions} items=${items} />`)}
    </section>
    <section>
      <h2>Dead letters</h2>
      ${shown(letters, 'dead letters', ({ items }) => html`<${DeadLetters} items=${items} />`)}
    </section>
  </div>`;
}

function shown<T>(loaded: Loaded<T>, what: string, view: (value: T) => unknown) {
  if (loaded.state === 'loading') return html`<${Loading} what=${what} />`;
  // What only a fleet has is no failure where there is none.
  if (loaded.state === 'failed' && loaded.problem.status === 404)
    return html`<${Empty} title="Not here">${loaded.problem.message}; ${loaded.problem.hint}<//>`;
  if (loaded.state === 'failed') return html`<${Failed} problem=${loaded.problem} />`;
  return view(loaded.value);
}

function Clusters({ clusters }: { clusters: readonly Cluster[] }) {
  if (clusters.length === 0) return html`<${Empty} title="No cluster yet" />`;
  return html`<ul class="cards">
    ${clusters.map(
      ({ identity, name, version, server, state, watcher, services }) => html`<li>
        <strong>${name}</strong>
        <span>${state}${watcher && html` by <b title=${`epoch ${watcher.epoch}`}>${watcher.owner}</b>`}${version && ` · Kubernetes ${version}`}</span>
        <span>${plural(services, 'Service')}</span><small title="uid of kube-system">${server} ${identity}</small>
      </li>`,
    )}
  </ul>`;
}

function ParkedList({ items }: { items: readonly Parked[] }) {
  if (items.length === 0) return html`<${Empty} title="None">No refused writes.<//>`;
  return html`<ul class="cards bad">
    ${items.map(({ cluster, namespace, name, controller, message, since }) => {
      const service = { cluster, namespace, name };
      const href = `/services/${[cluster, namespace, name].map(encodeURIComponent).join('/')}`;
      const open = (event: MouseEvent) => follows(event, { view: 'service', service, at: undefined });
      return html`<li>
        <a href=${href} onClick=${open}>${namespace}/${name}</a><span>${controller}, since ${dateAndTime(since)}</span>
        <p>${message}</p>
      </li>`;
    })}
  </ul>`;
}

function Partitions({ items }: { items: readonly Partition[] }) {
  const writers = items.map(({ partition, writer }) => ({ partition, ...writer }));
  return html`<${Shares} title="decided by" items=${items} /><${Shares} title="written by" items=${writers} />`;
}

type Share = Omit<Partition, 'writer'>;

/** One cell for each partition; those of one owner have one colour. */
function Shares({ title, items }: { title: string; items: readonly Share[] }) {
  const owners = [...new Set(items.map(({ owner }) => owner))].filter((owner) => owner !== '').sort();
  const colour = (owner: string) => (owner === '' ? 'nobody' : `owner-${owners.indexOf(owner) % 8}`);
  const held = (owner: string) => items.filter((item) => item.owner === owner);
  const lags = items.map(({ lag }) => lag ?? 0);
  const [total, most] = [lags.reduce((sum, lag) => sum + lag, 0), Math.max(0, ...lags)];
  return html`<h3>${title} <small>${total === 0 ? 'no lag' : `${total} records wait, ${most} of them in one partition`}</small></h3>
    <div class="partitions">
      ${items.map(
        ({ partition, owner, epoch, lag }) => html`<span
          class=${`${colour(owner)} ${lag !== null && lag > 1_000 ? 'behind' : ''}`}
          title=${`partition ${partition}: ${owner || 'nobody'}, epoch ${epoch}${lag === null ? '' : `, lag ${lag}`}`}
          >${partition}</span
        >`,
      )}
    </div>
    <ul class="legend">
      ${owners.map((owner) => html`<li><i class=${colour(owner)}></i>${owner} <b>${held(owner).length}</b></li>`)}
      ${held('').length > 0 && html`<li><i class="nobody"></i>nobody <b>${held('').length}</b></li>`}
    </ul>`;
}

function DeadLetters({ items }: { items: readonly DeadLetter[] }) {
  if (items.length === 0) return html`<${Empty} title="None">No dead letters.<//>`;
  return html`<ul class="cards">
    ${items.map(({ name, key, reason, at }) => html`<li><strong>${name}</strong><span>${dateAndTime(at)} · ${key}</span><p>${reason}</p></li>`)}
  </ul>`;
}
