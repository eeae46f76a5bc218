import { useEffect, useRef } from 'preact/hooks';
import type { PodView } from '../../src/view/schemas.ts';
import { ago, plural, shortTime } from '../format.ts';
import { html } from '../html.ts';
import { useNow } from '../live.ts';
import { LatencyBar } from './latency-bar.ts';
import { Empty } from './notice.ts';

interface PodTableProps {
  readonly pods: readonly PodView[];
  /** The time that is shown; undefined: now. */
  readonly at: number | undefined;
  readonly chosen: string;
  readonly choose: (pod: string) => void;
}

const shownAtFirst = 200;
/** Those that want attention come first. */
const order = ['pending', 'left out', 'not ready', 'terminating', 'unknown', 'ready'];

/** Each Pod with where it stands and why. */
export function PodTable({ pods, at, chosen, choose }: PodTableProps) {
  const clock = useNow(5_000);
  const sorted = pods.toSorted((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
  const shown = sorted.filter(({ pod }, i) => i < shownAtFirst || pod === chosen);
  const when = (time: number) => (at === undefined ? ago(time, clock) : `at ${shortTime(time, at)}`);
  const isGone = chosen !== '' && !pods.some(({ pod }) => pod === chosen);
  return html`<section class="pods" aria-label="Pods">
    <h2>Pods</h2>
    ${pods.length === 0 && html`<${Empty} title="No Pod">No Pod of the namespace has the labels that the Service selects.<//>`}
    <ul>
      ${isGone && html`<li class="chosen gone"><b>${chosen}</b> did not exist at this time; its history is below</li>`}
      ${shown.map((pod) => html`<${Line} key=${pod.pod} pod=${pod} when=${when} chosen=${chosen} choose=${choose} />`)}
    </ul>
    ${pods.length > shown.length && html`<p class="faint">and ${plural(pods.length - shown.length, 'more Pod')} that are ready</p>`}
  </section>`;
}

interface LineProps extends Omit<PodTableProps, 'pods' | 'at'> {
  readonly pod: PodView;
  readonly when: (time: number) => string;
}

function Line({ pod, when, chosen, choose }: LineProps) {
  const { verdict, reasons, deletingSince, lastChange, unready, ips, node, zone, placements } = pod;
  const isChosen = pod.pod === chosen;
  const line = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) line.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return html`<li class=${isChosen ? 'chosen' : ''} ref=${line}>
    <button onClick=${() => choose(isChosen ? '' : pod.pod)} aria-expanded=${isChosen}>
      <span class=${`verdict ${verdict.replace(' ', '-')}`}><i></i>${verdict}</span>
      <b>${pod.pod}</b>
      <span class="faint">${lastChange && `${lastChange.what} ${when(lastChange.at)}`}</span>
      <${LatencyBar} ms=${lastChange?.latencyMs ?? null} />
      <span class="why">${reasons[0]}</span>
    </button>
    ${
      isChosen &&
      html`<dl>
        ${reasons.slice(1).map((reason) => html`<dt>also</dt><dd>${reason}</dd>`)}
        ${deletingSince !== null && html`<dt>deleted</dt><dd>since ${when(deletingSince)}</dd>`}
        ${unready !== null && unready.at !== lastChange?.at && html`<dt>not ready</dt><dd>since ${when(unready.at)}, because ${unready.causes.join('; ') || 'no cause is kept'}</dd>`}
        <dt>where</dt><dd>${[ips.join(', ') || 'no IP', node && `on ${node}`, zone && `zone ${zone}`].filter(Boolean).join(' · ')}</dd>
        ${placements.map(({ slice, addressType, hints }) => html`<dt>slice</dt><dd>${slice} <small>${addressType}${hints.length > 0 && `, hinted to ${hints.join(', ')}`}</small></dd>`)}
        ${lastChange && html`<dt>because</dt><dd>${lastChange.causes.join('; ') || 'no cause is kept'}</dd>`}
      </dl>`
    }
  </li>`;
}
