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

/** A period from left to right, on which spans are links. */
export function Belt({ since, until, spans }: BeltPeriod & { readonly spans: readonly BeltSpan[] }) {
  const share = (at: number) => ((Math.min(until, Math.max(since, at)) - since) / Math.max(1, until - since)) * 100;
  return html`<div class="belt">
    ${spans.map((span) => {
      const [left, right] = [share(span.from), share(span.to ?? until)];
      return html`<${Link}
        to=${span.link}
        class=${`${span.class} ${span.to === null ? 'continues' : ''}`}
        style=${{ left: `${left}%`, width: `${right - left}%` }}
        title=${span.text}
        aria-label=${span.text}
      />`;
    })}
  </div>`;
}

/** Times on the axis. */
const ticks = 4;

export function BeltTimes({ since, until }: BeltPeriod) {
  const times = Array.from({ length: ticks + 1 }, (_, i) => since + ((until - since) * i) / ticks);
  return html`<div class="times" aria-hidden="true">${times.map((at) => html`<span>${dateAndTime(at)}</span>`)}</div>`;
}
