import { duration, latencyLevel, latencyShare } from '../format.ts';
import { html } from '../html.ts';

/** How long a write took after what it was for; on a logarithmic scale, as both 3 ms and 3 s are to be told apart. */
export function LatencyBar({ ms }: { ms: number | null }) {
  if (ms === null) return html`<span class="latency none">–</span>`;
  return html`<span class=${`latency ${latencyLevel(ms)}`} title=${`${ms} ms from the event to the last response`}>
    <i><i style=${{ width: `${latencyShare(ms) * 100}%` }}></i></i><b>${duration(ms)}</b>
  </span>`;
}
