import { commandText } from '../command-text.ts';
import { dateAndTime } from '../format.ts';
import { html } from '../html.ts';
import { pathOf, type ServiceRoute } from '../router.ts';
import { rangeOfLength, type TimeRange } from '../time-range.ts';
import { CopyButton } from './copy-button.ts';

interface TimeRangeBarProps {
  readonly route: ServiceRoute;
  readonly all: TimeRange;
  readonly show: (range: TimeRange | undefined) => void;
  readonly zoom: (factor: number) => void;
}

const lengths = [
  ['5 min', 300_000],
  ['1 h', 3_600_000],
  ['24 h', 86_400_000],
] as const;

/** Buttons for the part of the history that is shown, and a link and commands for exactly this view. */
export function TimeRangeBar({ route, all, show, zoom }: TimeRangeBarProps) {
  const { at, range } = route;
  const shownAt = at ?? all.until;
  const link = new URL(pathOf({ ...route, at: shownAt }), location.origin).href;
  const title = (text: string) => (at === undefined ? `the last ${text}` : `${text} around the time shown`);
  return html`<div class="range">
    ${lengths.map(
      ([text, ms]) =>
        html`<button class="button" title=${title(text)} onClick=${() => show(rangeOfLength(ms, at, all.until))}>${text}</button>`,
    )}
    <button class="button" aria-pressed=${range === undefined} title="all of the history (0)" onClick=${() => show(undefined)}>all</button>
    <button class="button" aria-label="zoom in" title="zoom in (+)" onClick=${() => zoom(0.5)}>+</button>
    <button class="button" aria-label="zoom out" title="zoom out (−)" onClick=${() => zoom(2)}>−</button>
    ${range && html`<span class="faint">${dateAndTime(range.since)} – ${dateAndTime(range.until)}</span>`}
    <span class="spacer"></span>
    <${CopyButton} what="link" text=${link} title="a link to this view at this time" />
    ${(['explain', 'history'] as const).map((command) => {
      const text = commandText(command, route, shownAt);
      return html`<${CopyButton} key=${command} what=${command} text=${text} title=${text} />`;
    })}
  </div>`;
}
