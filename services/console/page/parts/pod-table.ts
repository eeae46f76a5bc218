import type { PodView } from '../../src/view/schemas.ts';
import { ago, dateAndTime, plural } from '../format.ts';
import { html } from '../html.ts';
import { useNow } from '../live.ts';
import { LatencyBar } from './latency-bar.ts';
import { Empty } from './notice.ts';

interface PodTableProps {
  readonly pods: readonly PodView[];
  /** The time that is shown; undefined: now. */
  readonly now: number | undefined;
  readonly chosen: string;
  readonly choose: (pod: string) => void;
}

const shownAtFirst = 200;
/** Those that want attention come first. */
const order = ['pending', 'left out', 'not ready', 'terminating', 'unknown', 'ready'];

/** Each Pod with where it stands and why. */
export function PodTable({ pods, now, chosen, choose }: PodTableProps) {
  const clock = useNow(5_000);
  const sorted = pods.toSorted((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
  const shown = sorted.filter(({ pod }, i) => i < shownAtFirst || pod === chosen);
  return html`<section class="pods" aria-label="Pods">
    <h2>Pods</h2>
    ${pods.length === 0 && html`<${Empty} title="No Pod">No Pod of the namespace has the labels that the Service selects.<//>`}
    <ul>${shown.map((pod) => html`<${Line} key=${pod.pod} pod=${pod} now=${now ?? clock} then=${now !== undefined} chosen=${chosen} choose=${choose} />`)}</ul>
    ${pods.length > shown.length && html`<p class="faint">and ${plural(pods.length - shown.length, 'more Pod')} that are ready</p>`}
  </section>`;
}

interface LineProps extends Omit<PodTableProps, 'pods' | 'now'> {
  readonly pod: PodView;
  readonly now: number;
  readonly then: boolean;
}

function Line({ pod, now, then, chosen, choose }: LineProps) {
  const { verdict, reasons, lastChange, ips, node, zone, placements } = pod;
  const isChosen = pod.pod === chosen;
  return html`<li class=${isChosen ? 'chosen' : ''}>
    <button onClick=${() => choose(isChosen ? '' : pod.pod)} aria-expanded=${isChosen}>
      <span class=${`verdict ${verdict.replace(' ', '-')}`}><i></i>${verdict}</span>
      <b>${pod.pod}</b>
      <span class="why">${reasons[0]}</span>
      <span class="faint">${lastChange && `${lastChange.what} ${then ? dateAndTime(lastChange.at) : ago(lastChange.at, now)}`}</span>
      <${LatencyBar} ms=${lastChange?.latencyMs ?? null} />
    </button>
    ${
      isChosen &&
      html`<dl>
        ${reasons.slice(1).map((reason) => html`<dt>also</dt><dd>${reason}</dd>`)}
        <dt>where</dt><dd>${[ips.join(', ') || 'no IP', node && `on ${node}`, zone && `zone ${zone}`].filter(Boolean).join(' · ')}</dd>
        ${placements.map(({ slice, addressType, hints }) => html`<dt>slice</dt><dd>${slice} <small>${addressType}${hints.length > 0 && `, hinted to ${hints.join(', ')}`}</small></dd>`)}
        ${lastChange && html`<dt>because</dt><dd>${lastChange.causes.join('; ') || 'no cause is kept'}</dd>`}
      </dl>`
    }
  </li>`;
}
