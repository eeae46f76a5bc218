import { duration, fineDuration, latencyLevel, latencyShare } from '../format.ts';
import { html } from '../html.ts';

/** Latency of a write from its first cause, on a logarithmic scale. */
export function LatencyBar({ ms }: { ms: number | null }) {
  if (ms === null) return html`<span class="latency none">–</span>`;
  return html`<span class=${`latency ${latencyLevel(ms)}`} title=${`${fineDuration(ms)} from the first cause to the last response`}>
    <i><i style=${{ width: `${latencyShare(ms) * 100}%` }}></i></i><b>${duration(ms)}</b>
  </span>`;
}
