import type { DeadLetterView, Overview, ParkedView, PartitionView } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { dateAndTime, outageText, plural, retentionText } from '../format.ts';
import { html } from '../html.ts';
import { useKeys } from '../keys.ts';
import { limitText } from '../limit-text.ts';
import { Empty, Failed, Loading } from '../parts/notice.ts';
import { Link, navigate } from '../router.ts';
import { type Loaded, useLoaded } from '../use-loaded.ts';

const refreshMs = 5_000;
const ownerColors = ['#5cc8e0', '#8fd694', '#f2c14e', '#b9a5f5', '#f49d6e', '#7fb0ff', '#e59bd1', '#a8c686'];

/** Clusters, refused writes, owners of partitions, and dead letters. */
export function FleetView() {
  useKeys({ Escape: () => navigate({ view: 'services' }) });
  const [overview] = useLoaded(api.overview, [], refreshMs);
  const [parked] = useLoaded((signal) => api.items<ParkedView>('parked', signal), [], refreshMs);
  const showsCluster = overview.state === 'ready' && overview.value.clusters.length > 1;
  return html`<div class="fleet">
    <h1 class="visually-hidden">Fleet</h1>
    ${overview.state === 'ready' && html`<${StoreProblems} problems=${overview.value.storeProblems} />`}
    <section>
      <h2>Clusters</h2>
      ${shown('Clusters', overview, ({ clusters }) => html`<${Clusters} clusters=${clusters} />`)}
      ${
        overview.state === 'ready' &&
        html`<p class="faint">
          Sluice ${overview.value.version} · history since
          ${overview.value.since === null ? ' now' : ` ${dateAndTime(overview.value.since)}`}${retentionText(overview.value.retentionMs)},
          ${(overview.value.historyBytes / 1024 / 1024).toFixed(1)} MiB${limitedText(overview.value.servicesLimit)}
        </p>`
      }
    </section>
    ${section('Refused writes', parked, ({ items }) => html`<${ParkedList} items=${items} showsCluster=${showsCluster} />`)}
    ${overview.state === 'ready' && overview.value.fleet && html`<${FleetSections} />`}
  </div>`;
}

const limitedText = (limit: number | undefined) => (limit === undefined ? '' : ` · ${limitText(limit)}`);

function StoreProblems({ problems }: { problems: Overview['storeProblems'] }) {
  if (problems.length === 0) return null;
  return html`<section>
    <h2>Store</h2>
    <ul class="cards bad">
      ${problems.map((problem) => html`<li><strong>unsafe setting</strong><span>${problem}</span></li>`)}
    </ul>
  </section>`;
}

/** What only a fleet has: the console of a single process answers 404 to these requests. */
function FleetSections() {
  const [partitions] = useLoaded((signal) => api.items<PartitionView>('partitions', signal), [], refreshMs);
  const [deadLetters] = useLoaded((signal) => api.items<DeadLetterView>('dead-letters', signal), [], refreshMs);
  return html`
    ${section('Partitions', partitions, ({ items }) => html`<${Partitions} items=${items} />`)}
    ${section('Dead letters', deadLetters, ({ items }) => html`<${DeadLetters} items=${items} />`)}
  `;
}

function section<T>(title: string, loaded: Loaded<T>, view: (value: T) => unknown) {
  return html`<section><h2>${title}</h2>${shown(title, loaded, view)}</section>`;
}

function shown<T>(title: string, loaded: Loaded<T>, view: (value: T) => unknown) {
  if (loaded.state === 'loading') return html`<${Loading} what=${title.toLowerCase()} />`;
  if (loaded.state === 'failed') return html`<${Failed} problem=${loaded.problem} />`;
  return view(loaded.value);
}

function Clusters({ clusters }: { clusters: Overview['clusters'] }) {
  if (clusters.length === 0) return html`<${Empty} title="No clusters yet" />`;
  return html`<ul class="cards">
    ${clusters.map(
      ({
        identity,
        name,
        version,
        server,
        state,
        outage,
        competing,
        paused,
        watcher,
        services,
      }) => html`<li class=${outage || competing || paused ? 'bad' : ''}>
        <strong>${name}</strong>
        <span>${outage ? outageText({ what: 'It', ...outage }) : state}${watcher && html` by <b title=${`fencing token ${watcher.epoch}`}>${watcher.owner}</b>`}${version && ` · Kubernetes ${version}`}</span>
        ${competing && html`<span>${competing} writes the same objects; disable its endpoint controllers (sluice doctor says how)</span>`}
        ${paused && html`<span>Writes are paused: ${paused}</span>`}
        <span>${plural(services, 'Service')}</span><small title="uid of kube-system">${server} ${server && identity}</small>
      </li>`,
    )}
  </ul>`;
}

function ParkedList({ items, showsCluster }: { items: readonly ParkedView[]; showsCluster: boolean }) {
  if (items.length === 0) return html`<${Empty} title="None">No refused writes.<//>`;
  return html`<ul class="cards bad">
    ${items.map(({ cluster, clusterName, namespace, name, controller, message, since }) => {
      const to = { view: 'service', service: { cluster, namespace, name } } as const;
      return html`<li>
        <${Link} to=${to}>${showsCluster && `${clusterName} · `}${namespace}/${name}<//><span>${controller}, since ${dateAndTime(since)}</span>
        <p>${message}</p>
      </li>`;
    })}
  </ul>`;
}

function Partitions({ items }: { items: readonly PartitionView[] }) {
  const writers = items.map(({ partition, writer }) => ({ partition, ...writer }));
  return html`<${Shares} title="reconcilers" items=${items} /><${Shares} title="writers" items=${writers} />`;
}

type Share = Omit<PartitionView, 'writer'>;

/** A cell for each partition, in the color of its owner. */
function Shares({ title, items }: { title: string; items: readonly Share[] }) {
  const owners = [...new Set(items.map(({ owner }) => owner))].filter((owner) => owner !== '').sort();
  const background = (owner: string) =>
    owner === '' ? 'var(--bad)' : ownerColors[owners.indexOf(owner) % ownerColors.length];
  const lags = items.map(({ lag }) => lag ?? 0);
  const [total, largest] = [lags.reduce((sum, lag) => sum + lag, 0), Math.max(0, ...lags)];
  return html`<h3>${title} <small>${total === 0 ? 'no lag' : `lag ${total} records, at most ${largest} in one partition`}</small></h3>
    <div class="partitions">
      ${items.map(
        ({ partition, owner, epoch, lag }) => html`<span
          class=${lag !== null && lag > 1_000 ? 'behind' : ''}
          style=${{ background: background(owner) }}
          title=${`partition ${partition}: ${owner || 'no owner'}, fencing token ${epoch}${lag === null ? '' : `, lag ${lag}`}`}
          >${partition}</span
        >`,
      )}
    </div>
    <ul class="legend">
      ${[...owners, ''].map((owner) => {
        const { length } = items.filter((item) => item.owner === owner);
        return (
          length > 0 &&
          html`<li><i style=${{ background: background(owner) }}></i>${owner || 'no owner'} <b>${length}</b></li>`
        );
      })}
    </ul>`;
}

function DeadLetters({ items }: { items: readonly DeadLetterView[] }) {
  if (items.length === 0) return html`<${Empty} title="None">No dead letters.<//>`;
  return html`<ul class="cards">
    ${items.map(
      ({ name, key, clusterName, reason, at }) => html`<li>
        <strong>${name}</strong
        ><span>${dateAndTime(at)} · ${clusterName === '' ? key : clusterName + key.slice(key.indexOf('/'))}</span>
        <p>${reason}</p>
      </li>`,
    )}
  </ul>`;
}
