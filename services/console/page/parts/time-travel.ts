import { useState } from 'preact/hooks';
import type { HistoryView } from '../../src/view/schemas.ts';
import { dateAndTime } from '../format.ts';
import { html } from '../html.ts';
import { useNow } from '../live.ts';

interface TimeTravelProps {
  readonly history: HistoryView;
  readonly at: number | undefined;
  readonly travel: (at: number | undefined, replace?: boolean) => void;
  readonly step: (by: -1 | 1) => void;
}

const bins = 120;

/** A slider over the time that is kept, with a bar for how much was written when. */
export function TimeTravel({ history, at, travel, step }: TimeTravelProps) {
  const clock = useNow();
  /** While somebody holds the slider, its ends stay where they are. */
  const [held, setHeld] = useState<number>();
  const now = held ?? Math.ceil(clock);
  const release = () => setHeld(undefined);
  const first = history.entries[0]?.at ?? history.since;
  const start = Math.floor(Math.min(first, now - 1_000));
  const counts = density(history, start, now);
  const highest = Math.max(1, ...counts.map(({ done, seen }) => done + seen));
  const moved = (event: InputEvent) => {
    const value = Number((event.target as HTMLInputElement).value);
    travel(value >= now - 500 ? undefined : value, true);
  };
  return html`<div class="travel" role="group" aria-label="time travel">
    <button class="quiet" onClick=${() => step(-1)} title="the change before (←)" aria-label="the change before">‹</button>
    <div class="track">
      <div class="bars" aria-hidden="true">
        ${counts.map(
          ({ done, seen, bad }) =>
            html`<i style=${{ height: `${((done + seen) / highest) * 100}%` }} class=${bad ? 'bad' : done > 0 ? 'done' : 'seen'}></i>`,
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
    <button class="quiet" onClick=${() => step(1)} title="the change after (→)" aria-label="the change after">›</button>
    ${
      at === undefined
        ? html`<span class="moment">now</span>`
        : html`<span class="moment then"><b>${dateAndTime(at, true)}</b>
            <button class="button" onClick=${() => travel(undefined)} title="back to now (l)">now</button></span>`
    }
  </div>`;
}

function density({ entries }: HistoryView, start: number, now: number) {
  const counts = Array.from({ length: bins }, () => ({ done: 0, seen: 0, bad: false }));
  for (const entry of entries) {
    const bin = counts[Math.min(bins - 1, Math.floor(((entry.at - start) / (now - start)) * bins))];
    if (bin === undefined) continue;
    if (entry.kind === 'done') {
      bin.done++;
      bin.bad ||= entry.status !== 'applied';
    } else if (entry.kind === 'seen') bin.seen++;
  }
  return counts;
}
