import type { SliceView } from '../../src/view/schemas.ts';
import { plural } from '../format.ts';
import { html } from '../html.ts';
import { Empty } from './notice.ts';

interface SliceMapProps {
  readonly slices: readonly SliceView[];
  /** Name of the Pod whose endpoints are highlighted. */
  readonly chosen: string;
  readonly choose: (pod: string) => void;
}

/** Slices with more endpoints get the full width. */
const manyCells = 48;

type Endpoint = SliceView['endpoints'][number];

/** A cell for each endpoint, by slice and zone. */
export function SliceMap({ slices, chosen, choose }: SliceMapProps) {
  return html`<section class="slices" aria-label="slices">
    <h2>Slices</h2>
    ${slices.length === 0 && html`<${Empty} title="No slices">The Service receives no traffic.<//>`}
    <div class="cards">${slices.map((slice) => html`<${Card} key=${slice.name} slice=${slice} chosen=${chosen} choose=${choose} />`)}</div>
    ${
      slices.length > 0 &&
      html`<p class="legend">
      <span><i class="cell ready"></i>ready</span><span><i class="cell not-ready"></i>not ready</span>
      <span><i class="cell terminating serving"></i>terminating, serving</span>
      <span><i class="cell terminating"></i>terminating</span>
    </p>`
    }
  </section>`;
}

function Card({ slice, chosen, choose }: { slice: SliceView } & Omit<SliceMapProps, 'slices'>) {
  const { name, addressType, ports, endpoints, managedBy } = slice;
  const zones = Map.groupBy(endpoints, ({ zone }) => zone);
  const size = endpoints.length > manyCells ? 'many' : '';
  return html`<article class=${size}>
    <h3 title=${managedBy && `managed by ${managedBy}`}>${name}</h3>
    <p class="faint">
      ${addressType} · ${plural(endpoints.length, 'endpoint')} ·
      ${ports.length === 0 ? ' no ports' : ` ${ports.map((port) => `${port.name && `${port.name} `}${port.port ?? 'any'}/${port.protocol}`).join(', ')}`}
    </p>
    ${[...zones]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(
        ([zone, members]) => html`<div class="zone" key=${zone}>
        ${(zone || zones.size > 1) && html`<span class="faint" title="zone">${zone || 'no zone'}</span>`}
        <div class="cells">
          ${members.map((endpoint) => html`<${Cell} key=${`${endpoint.pod} ${endpoint.addresses.join()}`} endpoint=${endpoint} chosen=${chosen} choose=${choose} />`)}
        </div>
      </div>`,
      )}
  </article>`;
}

function Cell({ endpoint, chosen, choose }: { endpoint: Endpoint } & Omit<SliceMapProps, 'slices'>) {
  const { pod, addresses } = endpoint;
  return html`<button
    class=${`cell ${stateOf(endpoint)} ${pod !== '' && pod === chosen ? 'chosen' : ''}`}
    title=${describe(endpoint)}
    aria-label=${describe(endpoint)}
    onClick=${() => choose(pod === chosen ? '' : pod)}
    disabled=${pod === ''}
  >${addresses.length > 1 ? addresses.length : ''}</button>`;
}

function stateOf({ ready, serving, terminating }: Endpoint): string {
  if (terminating) return serving ? 'terminating serving' : 'terminating';
  return ready ? 'ready' : 'not-ready';
}

function describe({ pod, addresses, ready, serving, terminating, node, zone, hints }: Endpoint): string {
  const state = [ready ? 'ready' : 'not ready', serving && !ready && 'serving', terminating && 'terminating'];
  return [
    `${pod || 'custom endpoint'}: ${addresses.join(', ')}`,
    state.filter(Boolean).join(', '),
    [node && `on ${node}`, zone && `zone ${zone}`].filter(Boolean).join(', '),
    hints.length > 0 && `hints: ${hints.join(', ')}`,
  ]
    .filter(Boolean)
    .join('\n');
}
