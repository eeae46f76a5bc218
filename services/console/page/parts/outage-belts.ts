import type { ServiceOutage } from '../../src/view/schemas.ts';
import { dateAndTime, duration, plural } from '../format.ts';
import { html } from '../html.ts';
import { Link } from '../router.ts';
import { Empty } from './notice.ts';
import { type AnswerProps, RecordedService } from './recorded-service.ts';

/** Times on the axis. */
const ticks = 4;

/** A belt for each Service, on which its outages are red. */
export function OutageBelts({ items, since, until, showsCluster }: AnswerProps & { items: readonly ServiceOutage[] }) {
  if (items.length === 0) return html`<${Empty} title="None">Every Service had a ready endpoint all the time.<//>`;
  const services = Map.groupBy(items, ({ cluster, namespace, name }) => `${cluster}/${namespace}/${name}`);
  const share = (at: number) => ((Math.min(until, Math.max(since, at)) - since) / Math.max(1, until - since)) * 100;
  const lengthOf = ({ from, to }: ServiceOutage) => (to ?? until) - Math.max(since, from);
  const rows = [...services.values()]
    .map((outages) => ({ outages, ms: outages.reduce((sum, one) => sum + lengthOf(one), 0) }))
    .sort((a, b) => b.ms - a.ms);
  return html`<div class="belts">
    <div class="times" aria-hidden="true">
      ${Array.from({ length: ticks + 1 }, (_, i) => html`<span>${dateAndTime(since + ((until - since) * i) / ticks)}</span>`)}
    </div>
    <ul aria-label="outages">
      ${rows.map(({ outages, ms }) => {
        const last = outages.at(-1) as ServiceOutage;
        return html`<li>
          <${RecordedService} service=${last} at=${last.from} showsCluster=${showsCluster} />
          <div class="belt">
            ${outages.map((one) => {
              const [left, right] = [share(one.from), share(one.to ?? until)];
              return html`<${Link}
                to=${{ view: 'service', service: one, at: one.from }}
                class=${one.to === null ? 'continues' : ''}
                style=${{ left: `${left}%`, width: `${right - left}%` }}
                title=${textOf(one, until)}
                aria-label=${textOf(one, until)}
              />`;
            })}
          </div>
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
