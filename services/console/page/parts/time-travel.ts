import { useState } from 'preact/hooks';
import type { HistoryView } from '../../src/view/schemas.ts';
import { dateAndTime } from '../format.ts';
import { html } from '../html.ts';
import { useNow } from '../use-loaded.ts';

interface TimeTravelProps {
  readonly history: HistoryView;
  readonly at: number | undefined;
  readonly travel: (at: number | undefined, replace?: boolean) => void;
  readonly step: (by: -1 | 1) => void;
}

const bins = 120;

/** A slider over the period of the history, with a histogram of its entries. */
export function TimeTravel({ history, at, travel, step }: TimeTravelProps) {
  const clock = useNow();
  // The range does not move while the slider is dragged.
  const [held, setHeld] = useState<number>();
  const now = held ?? Math.ceil(clock);
  const release = () => setHeld(undefined);
  const first = history.entries[0]?.at ?? history.since;
  const start = Math.floor(Math.min(first, now - 1_000));
  const counts = density(history, start, now);
  const highest = Math.max(1, ...counts.map(({ completed, observed }) => completed + observed));
  const moved = (event: InputEvent) => {
    const value = Number((event.target as HTMLInputElement).value);
    travel(value >= now - 500 ? undefined : value, true);
  };
  return html`<div class="travel" role="group" aria-label="time travel">
    <button class="quiet" onClick=${() => step(-1)} title="previous change (←)" aria-label="previous change">‹</button>
    <div class="track">
      <div class="bars" aria-hidden="true">
        ${counts.map(
          ({ completed, observed, bad }) =>
            html`<i style=${{ height: `${((completed + observed) / highest) * 100}%` }} class=${bad ? 'bad' : completed > 0 ? 'completed' : 'observed'}></i>`,
        )}
      </div>
      <input
        type="range"
        min=${start}
        max=${now}
        step="1"
        value=${at ?? now}
        onInput=${moved}
        onPointerDown=${() => setHeld(now)}
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
  </div>`;
}

function density({ entries }: HistoryView, start: number, now: number) {
  const counts = Array.from({ length: bins }, () => ({ completed: 0, observed: 0, bad: false }));
  for (const entry of entries) {
    const bin = counts[Math.min(bins - 1, Math.floor(((entry.at - start) / (now - start)) * bins))];
    if (bin === undefined) continue;
    if (entry.kind === 'completed') {
      bin.completed++;
      bin.bad ||= entry.status !== 'applied';
    } else if (entry.kind === 'observed') bin.observed++;
  }
  return counts;
}
