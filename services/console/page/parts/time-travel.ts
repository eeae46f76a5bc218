import { useRef, useState } from 'preact/hooks';
import type { HistoryView } from '../../src/view/schemas.ts';
import { isBad } from '../entry-text.ts';
import { dateAndTime } from '../format.ts';
import { html } from '../html.ts';
import type { TimeRange } from '../time-range.ts';
import { type Band, bandNames } from './bands.ts';

interface TimeTravelProps {
  readonly history: HistoryView;
  readonly bands: readonly Band[];
  readonly at: number | undefined;
  /** From left to right. */
  readonly shown: TimeRange;
  readonly travel: (at: number | undefined, replace?: boolean) => void;
  readonly step: (by: -1 | 1) => void;
  readonly show: (range: TimeRange) => void;
}

const bins = 120;

/** A slider over the period of the history, with a histogram of its entries on which a range can be chosen. */
export function TimeTravel({ history, bands: all, at, shown, travel, step, show }: TimeTravelProps) {
  // The range does not move while the slider is dragged.
  const [held, setHeld] = useState<TimeRange>();
  const { since, until } = held ?? shown;
  const release = () => setHeld(undefined);
  const counts = density(history, since, until);
  const highest = Math.max(1, ...counts.map(({ completed, observed }) => completed + observed));
  const share = (time: number) => `${(Math.min(1, Math.max(0, (time - since) / (until - since))) * 100).toFixed(2)}%`;
  const bands = all.filter(({ from, to }) => from <= until && to >= since);
  const moved = (event: InputEvent) => {
    const value = Number((event.target as HTMLInputElement).value);
    travel(value >= until - 500 ? undefined : value, true);
  };
  return html`
    <button class="quiet" onClick=${() => step(-1)} title="previous change (←)" aria-label="previous change">‹</button>
    <div class="track">
      <${RangeSelection} shown=${{ since, until }} show=${show} travel=${travel}>
        ${counts.map(
          ({ completed, observed, bad }) =>
            html`<i style=${{ height: `${((completed + observed) / highest) * 100}%` }} class=${bad ? 'bad' : completed > 0 ? 'completed' : 'observed'}></i>`,
        )}
        ${bands.map(
          ({ kind, from, to, text }) =>
            html`<em class=${kind} title=${text} style=${{ left: share(from), right: `calc(100% - ${share(to)})` }}></em>`,
        )}
      <//>
      <input
        type="range"
        min=${since}
        max=${until}
        step="1"
        value=${at ?? until}
        onInput=${moved}
        onPointerDown=${() => setHeld(shown)}
        onPointerUp=${release}
        onPointerCancel=${release}
        aria-label="time"
        aria-valuetext=${at === undefined ? 'now' : dateAndTime(at)}
      />
    </div>
    <button class="quiet" onClick=${() => step(1)} title="next change (→)" aria-label="next change">›</button>
    ${
      at === undefined
        ? html`<span class="moment">now</span>`
        : html`<span class="moment"><b>${dateAndTime(at, true)}</b>
            <button class="button" onClick=${() => travel(undefined)} title="back to now (l)">now</button></span>`
    }
    ${
      bands.length > 0 &&
      html`<ul class="legend" aria-label="bands">
        ${Object.entries(bandNames).map(([kind, name]) => {
          const texts = bands.filter((band) => band.kind === kind).map(({ text }) => text);
          return texts.length > 0 && html`<li title=${texts.join('\n')}><em class=${kind}></em>${name}</li>`;
        })}
      </ul>`
    }
  `;
}

interface RangeSelectionProps extends Pick<TimeTravelProps, 'shown' | 'show' | 'travel'> {
  readonly children?: unknown;
}

/** Shares of the width from left to right; a shorter drag is a click. */
const minDrag = 0.01;

/** Dragging over it chooses a range, and a click shows the state at that time. The keyboard has keys and buttons for both. */
function RangeSelection({ shown: { since, until }, show, travel, children }: RangeSelectionProps) {
  const area = useRef<HTMLDivElement>(null);
  // The next event may come before the rendering.
  const start = useRef<number | undefined>(undefined);
  const [drag, setDrag] = useState<readonly [from: number, to: number]>();
  const shareOf = ({ clientX }: PointerEvent) => {
    const { left, width } = area.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    return Math.min(1, Math.max(0, (clientX - left) / width));
  };
  const timeAt = (share: number) => Math.round(since + share * (until - since));
  const begin = (event: PointerEvent) => {
    if (event.button !== 0) return;
    area.current?.setPointerCapture(event.pointerId);
    start.current = shareOf(event);
  };
  const move = (event: PointerEvent) => {
    if (start.current !== undefined) setDrag([start.current, shareOf(event)]);
  };
  const cancel = () => {
    start.current = undefined;
    setDrag(undefined);
  };
  const end = (event: PointerEvent) => {
    if (start.current === undefined) return;
    const [from, to] = [start.current, shareOf(event)].sort((a, b) => a - b) as [number, number];
    cancel();
    if (to - from < minDrag) travel(timeAt(from));
    else show({ since: timeAt(from), until: timeAt(to) });
  };
  const [left, right] = drag === undefined ? [0, 0] : [Math.min(...drag), Math.max(...drag)];
  return html`<div
    class="bars"
    ref=${area}
    aria-hidden="true"
    title="drag to choose a range"
    onPointerDown=${begin}
    onPointerMove=${move}
    onPointerUp=${end}
    onPointerCancel=${cancel}
  >
    ${children}${drag && html`<span style=${{ left: `${left * 100}%`, width: `${(right - left) * 100}%` }}></span>`}
  </div>`;
}

function density({ entries }: HistoryView, since: number, until: number) {
  const counts = Array.from({ length: bins }, () => ({ completed: 0, observed: 0, bad: false }));
  for (const entry of entries) {
    const bin = counts[Math.min(bins - 1, Math.floor(((entry.at - since) / (until - since)) * bins))];
    if (bin === undefined) continue;
    if (entry.kind === 'completed') {
      bin.completed++;
      bin.bad ||= isBad(entry);
    } else if (entry.kind === 'observed') bin.observed++;
  }
  return counts;
}
