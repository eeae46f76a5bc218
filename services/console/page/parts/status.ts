import type { ServiceStatus, ServiceSummary } from '../../src/view/schemas.ts';
import { duration, fineDuration, latencyLevel, latencyShare, plural } from '../format.ts';
import { html } from '../html.ts';

export const statusText: Readonly<Record<ServiceStatus, string>> = {
  ok: 'all endpoints are ready',
  rolling: 'some endpoints are not ready, for a short time',
  degraded: 'too few endpoints are ready, or some are not for too long',
  empty: 'no endpoint is ready',
  pending: 'a write is in flight',
  refused: 'the API server refuses the write',
  unknown: 'the history is incomplete until the next snapshot',
  unmanaged: 'Sluice writes no endpoints: no selector and nothing to mirror, or type ExternalName',
  deleted: 'the Service does not exist, or its cluster was removed',
};

export function Status({ status, reason = '' }: { status: ServiceStatus; reason?: string }) {
  return html`<span class=${`status ${status}`} title=${reason || statusText[status]}><i aria-hidden="true"></i>${status}</span>`;
}

interface ReadyBarProps extends Pick<ServiceSummary, 'ready' | 'endpoints' | 'terminating'> {
  /** Pods that should be endpoints and are none. */
  readonly leftOut?: number | undefined;
}

/** The share of ready endpoints as a bar, without those of Pods that are being deleted. It is not full while Pods are left out. */
export function ReadyBar({ ready, endpoints, terminating, leftOut = 0 }: ReadyBarProps) {
  const expected = endpoints - terminating;
  const all = expected + leftOut;
  const share = all === 0 ? 0 : ready / all;
  const title = [
    `${ready} of ${expected} endpoints are ready`,
    ...(terminating === 0 ? [] : [`${terminating} terminating`]),
    ...(leftOut === 0 ? [] : [`${plural(leftOut, 'Pod')} left out`]),
  ].join(', ');
  return html`<span class="ready-bar" title=${title}>
    <i class=${all === 0 ? 'none' : ''}><i style=${{ width: `${share * 100}%` }}></i></i>
    <b>${ready}<small>/${all}</small></b>
  </span>`;
}

/** Latency of a write from its first cause, on a logarithmic scale. */
export function LatencyBar({ ms }: { ms: number | null }) {
  if (ms === null) return html`<span class="latency none">–</span>`;
  return html`<span class=${`latency ${latencyLevel(ms)}`} title=${`${fineDuration(ms)} from the first cause to the last response`}>
    <i><i style=${{ width: `${latencyShare(ms) * 100}%` }}></i></i><b>${duration(ms)}</b>
  </span>`;
}
