import type { ServiceStatus } from '../../src/view/schemas.ts';
import { duration, fineDuration, latencyLevel, latencyShare } from '../format.ts';
import { html } from '../html.ts';

export const statusText: Readonly<Record<ServiceStatus, string>> = {
  ok: 'all endpoints are ready',
  degraded: 'some endpoints are not ready',
  empty: 'no endpoint is ready',
  pending: 'a write is in flight',
  refused: 'the API server refuses the write',
  unknown: 'the history is incomplete until the next snapshot',
  unmanaged: 'Sluice writes no endpoints: no selector and nothing to mirror, or type ExternalName',
  deleted: 'the Service does not exist, or its cluster was removed',
};

export function Status({ status, problem = '' }: { status: ServiceStatus; problem?: string }) {
  return html`<span class=${`status ${status}`} title=${problem || statusText[status]}><i aria-hidden="true"></i>${status}</span>`;
}

/** The share of ready endpoints as a bar. */
export function ReadyBar({ ready, endpoints }: { ready: number; endpoints: number }) {
  const share = endpoints === 0 ? 0 : ready / endpoints;
  return html`<span class="ready-bar" title=${`${ready} of ${endpoints} endpoints are ready`}>
    <i class=${endpoints === 0 ? 'none' : ''}><i style=${{ width: `${share * 100}%` }}></i></i>
    <b>${ready}<small>/${endpoints}</small></b>
  </span>`;
}

/** Latency of a write from its first cause, on a logarithmic scale. */
export function LatencyBar({ ms }: { ms: number | null }) {
  if (ms === null) return html`<span class="latency none">–</span>`;
  return html`<span class=${`latency ${latencyLevel(ms)}`} title=${`${fineDuration(ms)} from the first cause to the last response`}>
    <i><i style=${{ width: `${latencyShare(ms) * 100}%` }}></i></i><b>${duration(ms)}</b>
  </span>`;
}
