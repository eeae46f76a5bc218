import type { ServiceStatus } from '../../src/view/schemas.ts';
import { html } from '../html.ts';

export const statusText: Readonly<Record<ServiceStatus, string>> = {
  ok: 'all endpoints are ready',
  degraded: 'some endpoints are not ready',
  empty: 'no endpoint is ready',
  pending: 'a write is on its way',
  refused: 'the API server refuses the write',
  unknown: 'not everything is known yet',
  unmanaged: 'its endpoints are not Sluice’s to write: no selector and nothing to mirror, or ExternalName',
  gone: 'there is no such Service any more',
};

export function Status({ status }: { status: ServiceStatus }) {
  return html`<span class=${`status ${status}`} title=${statusText[status]}><i aria-hidden="true"></i>${status}</span>`;
}

/** Ready and other endpoints as shares of a bar. */
export function ReadyBar({ ready, endpoints }: { ready: number; endpoints: number }) {
  const share = endpoints === 0 ? 0 : ready / endpoints;
  return html`<span class="ready-bar" title=${`${ready} of ${endpoints} endpoints are ready`}>
    <i class=${endpoints === 0 ? 'none' : ''}><i style=${{ width: `${share * 100}%` }}></i></i>
    <b>${ready}<small>/${endpoints}</small></b>
  </span>`;
}
