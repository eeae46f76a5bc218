import type {
  DrainView,
  NamedService,
  PropagationView,
  ReadinessChangesView,
  ServiceProblem,
} from '../../src/view/schemas.ts';
import { dateAndTime, duration, latencyLevel } from '../format.ts';
import { html } from '../html.ts';
import { Empty } from './notice.ts';
import { severities } from './problem-buckets.ts';
import { type AnswerProps, RecordedService } from './recorded-service.ts';
import type { Column } from './sort-items.ts';
import { SortableTable } from './sortable-table.ts';

/** A bar whose length is a share of the largest value, with a text. */
const bar = (value: number, largest: number, text: string, level = '') =>
  html`<span class=${`measure ${level}`}><i style=${{ width: `${(value / Math.max(1, largest)) * 100}%` }}></i>${text}</span>`;

/** As the column of Services reads. */
const nameOf = ({ clusterName, namespace, name }: NamedService): string => `${clusterName} ${namespace}/${name}`;

const levels = { critical: 'poor', warning: 'fair', info: '' } as const;

export function Problems({ items, until, showsCluster }: AnswerProps & { items: readonly ServiceProblem[] }) {
  if (items.length === 0) return html`<${Empty} title="None">Nothing is wrong with any Service.<//>`;
  const length = ({ from, to }: ServiceProblem) => Math.max(0, (to ?? until) - from);
  const longest = Math.max(...items.map(length));
  const columns: readonly Column<ServiceProblem>[] = [
    { name: 'severity', value: ({ severity }) => -severities.indexOf(severity) },
    { name: 'Service', value: nameOf },
    { name: 'reason', value: ({ reason }) => reason },
    { name: 'since', value: ({ from }) => from },
    { name: 'for', value: length },
    { name: 'message', value: ({ message }) => message },
    { name: 'last event before', value: ({ event }) => event ?? '' },
  ];
  const row = (one: ServiceProblem) => html`<tr>
        <td class=${levels[one.severity]}>${one.severity}</td>
        <td><${RecordedService} service=${one} at=${one.from} showsCluster=${showsCluster} /></td>
        <td>${one.reason}</td>
        <td>${one.isStartKnown ? '' : 'before '}${dateAndTime(one.from, true)}</td>
        <td>${bar(length(one), longest, duration(length(one)))}</td>
        <td class="text">${one.message}</td>
        <td class="faint">${one.event ?? ''}</td>
      </tr>`;
  return html`<${SortableTable} label="problems of Services" columns=${columns} items=${items} row=${row} />`;
}

export function Propagations({ items, until, showsCluster }: AnswerProps & { items: readonly PropagationView[] }) {
  if (items.length === 0) return html`<${Empty} title="None">Slices and Endpoints showed every Pod as they should.<//>`;
  const length = ({ startedAt, endedAt }: PropagationView) => Math.max(0, (endedAt ?? until) - startedAt);
  const longest = Math.max(...items.map(length));
  const columns: readonly Column<PropagationView>[] = [
    { name: 'Service', value: nameOf },
    { name: 'Pod', value: ({ pod }) => pod },
    { name: 'change', value: ({ from, to }) => `${from} ${to}` },
    { name: 'in', value: ({ place }) => place },
    { name: 'since', value: ({ startedAt }) => startedAt },
    { name: 'took', value: length },
    { name: 'event', value: ({ event }) => event },
  ];
  const row = (one: PropagationView) => {
    const ms = length(one);
    const end = one.end === null ? ', continues' : one.end === 'written' ? '' : `, ${one.end}`;
    return html`<tr>
        <td><${RecordedService} service=${one} at=${one.startedAt} showsCluster=${showsCluster} /></td>
        <td>${one.pod}</td><td>${one.from} → ${one.to}</td><td>${one.place}</td>
        <td>${one.isStartKnown ? '' : 'before '}${dateAndTime(one.startedAt, true)}</td>
        <td>${bar(ms, longest, `${duration(ms)}${end}`, latencyLevel(ms))}</td>
        <td class="faint">${one.event}</td>
      </tr>`;
  };
  return html`<${SortableTable} label="changes of Pods" columns=${columns} items=${items} row=${row} />`;
}

export function ReadinessChanges({ items, showsCluster }: AnswerProps & { items: readonly ReadinessChangesView[] }) {
  if (items.length === 0) return html`<${Empty} title="None">No Pod became ready or not ready.<//>`;
  const most = Math.max(...items.map(({ changes }) => changes));
  const columns: readonly Column<ReadinessChangesView>[] = [
    { name: 'Service', value: nameOf },
    { name: 'Pod', value: ({ pod }) => pod },
    { name: 'changes', value: ({ changes }) => changes },
    { name: 'last', value: ({ lastAt }) => lastAt },
  ];
  const row = (one: ReadinessChangesView) => html`<tr>
        <td><${RecordedService} service=${one} at=${one.lastAt} showsCluster=${showsCluster} /></td>
        <td>${one.pod}</td>
        <td>${bar(one.changes, most, String(one.changes))}</td>
        <td>${dateAndTime(one.lastAt)}</td>
      </tr>`;
  return html`<${SortableTable} label="Pods by changes of their readiness" columns=${columns} items=${items} row=${row} />`;
}

const enough = (is: boolean | null) =>
  is === null
    ? html`<td class="faint">unknown</td>`
    : html`<td class=${is ? 'good' : 'poor'}>${is ? 'yes' : 'no'}</td>`;

export function Drains({ items, until, showsCluster }: AnswerProps & { items: readonly DrainView[] }) {
  const [first] = items;
  if (first === undefined) return html`<${Empty} title="None">No ready Pod was deleted.<//>`;
  const longest = Math.max(...items.map(({ p99Ms }) => p99Ms));
  const columns: readonly Column<DrainView>[] = [
    { name: 'Service', value: nameOf },
    { name: 'removals', value: ({ removals }) => removals },
    { name: 'p50', value: ({ p50Ms }) => p50Ms },
    { name: 'p99', value: ({ p99Ms }) => p99Ms },
    { name: 'needed', value: ({ neededSeconds }) => neededSeconds },
    { name: 'preStop', value: ({ preStop }) => preStop.join(', ') },
    { name: 'enough', value: ({ isLongEnough }) => String(isLongEnough) },
    { name: 'grace period', value: ({ gracePeriodSeconds }) => gracePeriodSeconds ?? 0 },
  ];
  const row = (one: DrainView) => html`<tr>
      <td><${RecordedService} service=${one} at=${until} showsCluster=${showsCluster} /></td>
      <td>${one.removals}</td>
      <td>${duration(one.p50Ms)}</td>
      <td>${bar(one.p99Ms, longest, duration(one.p99Ms), latencyLevel(one.p99Ms))}</td>
      <td><b>${one.neededSeconds} s</b></td>
      <td>${one.preStop.join(', ')}</td>
      ${enough(one.isLongEnough)}
      <td>${one.gracePeriodSeconds === null ? '' : `${one.gracePeriodSeconds} s`}</td>
    </tr>`;
  return html`
    <${SortableTable} label="removals" columns=${columns} items=${items} row=${row} />
    <p class="faint">
      Measured: from the watch event of the Pod to that of the slices that no longer show it as ready. Assumed: the last kube-proxy has
      its rules ${` ${duration(first.proxyDelayMs)} `} later, and the application serves until SIGTERM. Not included: open connections,
      and the delays of DNS, ingresses, meshes and cloud load balancers.
    </p>
  `;
}
