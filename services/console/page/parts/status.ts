import type { ServiceStatus } from '../../src/view/schemas.ts';
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
