import { useEffect, useRef } from 'preact/hooks';
import type { PodView } from '../../src/view/schemas.ts';
import { flapping, troubledFirst } from '../entry-text.ts';
import { ago, duration, plural, shortTime, withLocalTimes } from '../format.ts';
import { html } from '../html.ts';
import { slowWriteText } from '../spent-text.ts';
import { useNow } from '../use-loaded.ts';
import { Empty } from './notice.ts';
import { LatencyBar } from './status.ts';

interface PodTableProps {
  readonly pods: readonly PodView[];
  /** The time shown; undefined: now. */
  readonly at: number | undefined;
  readonly chosen: string;
  readonly choose: (pod: string) => void;
}

const maxShown = 200;

/** Each Pod with its verdict and reasons. */
export function PodTable({ pods, at, chosen, choose }: PodTableProps) {
  const clock = useNow(5_000);
  const shown = troubledFirst(pods).filter(({ pod }, i) => i < maxShown || pod === chosen);
  const when = (time: number) => (at === undefined ? ago(time, clock) : `at ${shortTime(time, at)}`);
  const isMissing = chosen !== '' && !pods.some(({ pod }) => pod === chosen);
  return html`<section class="pods" aria-label="Pods">
    <h2>Pods</h2>
    ${pods.length === 0 && html`<${Empty} title="No Pods">No Pod in the namespace matches the selector.<//>`}
    <ul>
      ${isMissing && html`<li class="chosen deleted"><b>${chosen}</b> did not exist at this time</li>`}
      ${shown.map((pod) => html`<${Line} key=${pod.pod} pod=${pod} when=${when} chosen=${chosen} choose=${choose} />`)}
    </ul>
    ${pods.length > shown.length && html`<p class="faint">and ${plural(pods.length - shown.length, 'more ready Pod')}</p>`}
  </section>`;
}

interface LineProps extends Omit<PodTableProps, 'pods' | 'at'> {
  readonly pod: PodView;
  readonly when: (time: number) => string;
}

function Line({ pod, when, chosen, choose }: LineProps) {
  const { verdict, reasons, deletingSince, lastChange, unready, ips, node, zone, placements, readinessChanges } = pod;
  const isChosen = pod.pod === chosen;
  const slow = lastChange === null ? '' : slowWriteText(lastChange, duration);
  const line = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) line.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return html`<li class=${isChosen ? 'chosen' : ''} ref=${line}>
    <button onClick=${() => choose(isChosen ? '' : pod.pod)} aria-expanded=${isChosen}>
      <span class=${`verdict ${verdict.replace(' ', '-')}`}><i></i>${verdict}</span>
      <b>${pod.pod}</b>
      <span class="faint">${lastChange && `${lastChange.type} ${when(lastChange.at)}`}</span>
      <${LatencyBar} ms=${lastChange?.latencyMs ?? null} />
      <span class="why">${withLocalTimes(reasons[0] ?? '')}</span>
    </button>
    ${
      isChosen &&
      html`<dl>
        ${reasons.slice(1).map((reason) => html`<dt>also</dt><dd>${withLocalTimes(reason)}</dd>`)}
        ${readinessChanges >= flapping && html`<dt>flapping</dt><dd>readiness changed ${readinessChanges} times in the last minute</dd>`}
        ${deletingSince !== null && html`<dt>deletion</dt><dd>started ${when(deletingSince)}</dd>`}
        ${unready !== null && unready.at !== lastChange?.at && html`<dt>not ready</dt><dd>${when(unready.at)}: ${unready.causes.join('; ') || 'no known cause'}</dd>`}
        <dt>address</dt><dd>${[ips.join(', ') || 'no IP', node && `on ${node}`, zone && `zone ${zone}`].filter(Boolean).join(' · ')}</dd>
        ${placements.map(({ slice, addressType, hints }) => html`<dt>slice</dt><dd>${slice} <small>${addressType}${hints.length > 0 && `, hints: ${hints.join(', ')}`}</small></dd>`)}
        ${lastChange && html`<dt>because</dt><dd>${lastChange.causes.join('; ') || 'no known cause'}</dd>`}
        ${slow !== '' && html`<dt>time</dt><dd>${slow}</dd>`}
      </dl>`
    }
  </li>`;
}
