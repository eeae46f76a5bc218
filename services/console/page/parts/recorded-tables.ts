import type { DrainView, PropagationView, ReadinessChangesView, ServiceProblem } from '../../src/view/schemas.ts';
import { dateAndTime, duration, latencyLevel } from '../format.ts';
import { html } from '../html.ts';
import { Empty } from './notice.ts';
import { type AnswerProps, RecordedService } from './recorded-service.ts';

/** A bar whose length is a share of the largest value, with a text. */
const bar = (value: number, largest: number, text: string, level = '') =>
  html`<span class=${`measure ${level}`}><i style=${{ width: `${(value / Math.max(1, largest)) * 100}%` }}></i>${text}</span>`;

function table(label: string, columns: readonly string[], rows: readonly unknown[]) {
  return html`<div class="scroll"><table aria-label=${label}>
    <thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
    <tbody>${rows}</tbody>
  </table></div>`;
}

const levels = { critical: 'poor', warning: 'fair', info: '' } as const;

export function Problems({ items, until, showsCluster }: AnswerProps & { items: readonly ServiceProblem[] }) {
  if (items.length === 0) return html`<${Empty} title="None">Nothing is wrong with any Service.<//>`;
  const length = ({ from, to }: ServiceProblem) => Math.max(0, (to ?? until) - from);
  const longest = Math.max(...items.map(length));
  return table(
    'problems of Services',
    ['severity', 'Service', 'reason', 'since', 'for', 'message', 'last event before'],
    items.map(
      (one) => html`<tr>
        <td class=${levels[one.severity]}>${one.severity}</td>
        <td><${RecordedService} service=${one} at=${one.from} showsCluster=${showsCluster} /></td>
        <td>${one.reason}</td>
        <td>${one.isStartKnown ? '' : 'before '}${dateAndTime(one.from, true)}</td>
        <td>${bar(length(one), longest, duration(length(one)))}</td>
        <td class="text">${one.message}</td>
        <td class="faint">${one.event ?? ''}</td>
      </tr>`,
    ),
  );
}

export function Propagations({ items, until, showsCluster }: AnswerProps & { items: readonly PropagationView[] }) {
  if (items.length === 0) return html`<${Empty} title="None">Slices and Endpoints showed every Pod as they should.<//>`;
  const length = ({ startedAt, endedAt }: PropagationView) => Math.max(0, (endedAt ?? until) - startedAt);
  const longest = Math.max(...items.map(length));
  return table(
    'changes of Pods',
    ['Service', 'Pod', 'change', 'in', 'since', 'took', 'event'],
    items.map((one) => {
      const ms = length(one);
      const end = one.end === null ? ', continues' : one.end === 'written' ? '' : `, ${one.end}`;
      return html`<tr>
        <td><${RecordedService} service=${one} at=${one.startedAt} showsCluster=${showsCluster} /></td>
        <td>${one.pod}</td><td>${one.from} → ${one.to}</td><td>${one.place}</td>
        <td>${one.isStartKnown ? '' : 'before '}${dateAndTime(one.startedAt, true)}</td>
        <td>${bar(ms, longest, `${duration(ms)}${end}`, latencyLevel(ms))}</td>
        <td class="faint">${one.event}</td>
      </tr>`;
    }),
  );
}

export function ReadinessChanges({ items, showsCluster }: AnswerProps & { items: readonly ReadinessChangesView[] }) {
  if (items.length === 0) return html`<${Empty} title="None">No Pod became ready or not ready.<//>`;
  const most = Math.max(...items.map(({ changes }) => changes));
  return table(
    'Pods by changes of their readiness',
    ['Service', 'Pod', 'changes', 'last'],
    items.map(
      (one) => html`<tr>
        <td><${RecordedService} service=${one} at=${one.lastAt} showsCluster=${showsCluster} /></td>
        <td>${one.pod}</td>
        <td>${bar(one.changes, most, String(one.changes))}</td>
        <td>${dateAndTime(one.lastAt)}</td>
      </tr>`,
    ),
  );
}

const enough = (is: boolean | null) =>
  is === null
    ? html`<td class="faint">unknown</td>`
    : html`<td class=${is ? 'good' : 'poor'}>${is ? 'yes' : 'no'}</td>`;

export function Drains({ items, until, showsCluster }: AnswerProps & { items: readonly DrainView[] }) {
  const [first] = items;
  if (first === undefined) return html`<${Empty} title="None">No ready Pod was deleted.<//>`;
  const longest = Math.max(...items.map(({ p99Ms }) => p99Ms));
  const rows = items.map(
    (one) => html`<tr>
      <td><${RecordedService} service=${one} at=${until} showsCluster=${showsCluster} /></td>
      <td>${one.removals}</td>
      <td>${duration(one.p50Ms)}</td>
      <td>${bar(one.p99Ms, longest, duration(one.p99Ms), latencyLevel(one.p99Ms))}</td>
      <td><b>${one.neededSeconds} s</b></td>
      <td>${one.preStop.join(', ')}</td>
      ${enough(one.isLongEnough)}
      <td>${one.gracePeriodSeconds === null ? '' : `${one.gracePeriodSeconds} s`}</td>
    </tr>`,
  );
  return html`
    ${table('removals', ['Service', 'removals', 'p50', 'p99', 'needed', 'preStop', 'enough', 'grace period'], rows)}
    <p class="faint">
      Measured: from the watch event of the Pod to that of the slices that no longer show it as ready. Assumed: the last kube-proxy has
      its rules ${` ${duration(first.proxyDelayMs)} `} later, and the application serves until SIGTERM. Not included: open connections,
      and the delays of DNS, ingresses, meshes and cloud load balancers.
    </p>
  `;
}
