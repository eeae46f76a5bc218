import { dateAndTime } from '../format.ts';
import { html } from '../html.ts';
import { Link, type Route } from '../router.ts';

export interface BeltPeriod {
  /** In milliseconds since the Unix epoch. */
  readonly since: number;
  readonly until: number;
}

export interface BeltSpan {
  readonly from: number;
  /** Null: it continues. */
  readonly to: number | null;
  readonly class: string;
  readonly text: string;
  readonly link: Route;
}

interface BeltProps extends BeltPeriod {
  readonly spans: readonly BeltSpan[];
  /** When nothing was recorded. */
  readonly gaps?: readonly Gap[];
}

export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** A period from left to right, on which spans are links. */
export function Belt({ since, until, spans, gaps = [] }: BeltProps) {
  const share = (at: number) => ((Math.min(until, Math.max(since, at)) - since) / Math.max(1, until - since)) * 100;
  const place = ({ from, to }: { readonly from: number; readonly to: number | null }) => {
    const [left, right] = [share(from), share(to ?? until)];
    return { left: `${left}%`, width: `${right - left}%` };
  };
  return html`<div class="belt">
    ${gaps
      .filter(({ from, to }) => from < until && to > since)
      .map(
        (gap) =>
          html`<i class="unrecorded" style=${place(gap)} title=${`not recorded from ${dateAndTime(gap.from)} to ${dateAndTime(gap.to)}`}></i>`,
      )}
    ${spans.map(
      (span) => html`<${Link}
        to=${span.link}
        class=${`${span.class} ${span.to === null ? 'continues' : ''}`}
        style=${place(span)}
        title=${span.text}
        aria-label=${span.text}
      />`,
    )}
  </div>`;
}

/** Times on the axis. */
const ticks = 4;

export function BeltTimes({ since, until }: BeltPeriod) {
  const times = Array.from({ length: ticks + 1 }, (_, i) => since + ((until - since) * i) / ticks);
  return html`<div class="times" aria-hidden="true">${times.map((at) => html`<span>${dateAndTime(at)}</span>`)}</div>`;
}
