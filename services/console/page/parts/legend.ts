import type { ServiceStatus } from '../../src/view/schemas.ts';
import { latencyLevel } from '../format.ts';
import { html } from '../html.ts';
import { LatencyBar, Status, statusText } from './status.ts';

const latencies = [20, 400, 4_000];

const latencyText = {
  good: 'a write below 100 ms, from its first cause to the last response of the API server',
  fair: 'below 1 s',
  poor: '1 s or more',
} as const;

/** What words, signs and colors of the lists mean. */
export function Legend() {
  return html`<dl class="signs">
    ${(Object.keys(statusText) as ServiceStatus[]).map(
      (status) => html`<div key=${status}><dt><${Status} status=${status} /></dt><dd>${statusText[status]}</dd></div>`,
    )}
    <div><dt class="delta"><b class="added">+2</b> <b class="removed">−1</b> <b class="changed">~1</b></dt>
      <dd>endpoints that a write added, removed or changed, for example from ready to not ready</dd></div>
    ${latencies.map((ms) => html`<div key=${ms}><dt><${LatencyBar} ms=${ms} /></dt><dd>${latencyText[latencyLevel(ms)]}</dd></div>`)}
  </dl>`;
}
