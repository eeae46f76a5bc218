import type { ServiceOutage } from '../../src/view/schemas.ts';
import { dateAndTime, duration, plural } from '../format.ts';
import { html } from '../html.ts';
import { Belt, BeltTimes } from './belt.ts';
import { Empty } from './notice.ts';
import { type AnswerProps, RecordedService } from './recorded-service.ts';

/** A belt for each Service, on which its outages are red. */
export function OutageBelts({
  items,
  since,
  until,
  gaps,
  showsCluster,
}: AnswerProps & { items: readonly ServiceOutage[] }) {
  if (items.length === 0) return html`<${Empty} title="None">Every Service had a ready endpoint all the time.<//>`;
  const services = Map.groupBy(items, ({ cluster, namespace, name }) => `${cluster}/${namespace}/${name}`);
  const lengthOf = ({ from, to }: ServiceOutage) => Math.min(to ?? until, until) - Math.max(since, from);
  const rows = [...services.values()]
    .map((outages) => ({ outages, ms: outages.reduce((sum, one) => sum + lengthOf(one), 0) }))
    .sort((a, b) => b.ms - a.ms);
  return html`<div class="belts">
    <${BeltTimes} since=${since} until=${until} />
    <ul aria-label="outages">
      ${rows.map(({ outages, ms }) => {
        const last = outages.at(-1) as ServiceOutage;
        const spans = outages.map((one) => ({
          ...{ from: one.from, to: one.to, class: 'bad', text: textOf(one, until) },
          link: { view: 'service', service: one, at: one.from },
        }));
        return html`<li>
          <${RecordedService} service=${last} at=${last.from} showsCluster=${showsCluster} />
          <${Belt} since=${since} until=${until} spans=${spans} gaps=${gaps} />
          <small>${duration(ms)} in ${plural(outages.length, 'outage')}, last: ${last.event ?? 'cause not recorded'}</small>
        </li>`;
      })}
    </ul>
  </div>`;
}

function textOf({ from, to, isStartKnown, event }: ServiceOutage, until: number): string {
  const since = `${isStartKnown ? 'from' : 'from before'} ${dateAndTime(from, true)}`;
  const length = to === null ? `for ${duration(until - from)}, continues` : `for ${duration(to - from)}`;
  return `no ready endpoint ${since} ${length}${event === null ? '' : `: ${event}`}`;
}
