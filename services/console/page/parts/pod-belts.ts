import type { RolloutView } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { dateAndTime, duration, plural } from '../format.ts';
import { html } from '../html.ts';
import type { ServiceRoute } from '../router.ts';
import type { TimeRange } from '../time-range.ts';
import { useLoaded } from '../use-loaded.ts';
import { Belt, BeltTimes } from './belt.ts';

interface PodBeltsProps {
  readonly route: ServiceRoute;
  readonly period: TimeRange;
}

const maxShown = 100;

/** A belt for each Pod: when it was ready, not ready or terminating, below the controller that owns it. */
export function PodBelts({ route, period: { since, until } }: PodBeltsProps) {
  const [loaded] = useLoaded((signal) => api.rollout(route.service, { since, until }, signal), [since, until]);
  if (loaded.state !== 'ready') return null;
  const { from, to, pods } = loaded.value;
  const owners = Map.groupBy(pods.slice(0, maxShown), ({ owner }) => owner);
  return html`<section class="pod-belts" aria-label="Pods over time">
    <h2>Pods over time</h2>
    <div class="belts">
      <${BeltTimes} since=${from} until=${to} />
      ${[...owners].map(
        ([owner, owned]) => html`<h3>${owner || 'no owner recorded'} <small>${plural(owned.length, 'Pod')}</small></h3>
          <ul aria-label=${owner}>
            ${owned.map(({ pod, spans }) => html`<li><span class="name">${pod}</span>${beltOf(route, spans, { from, to })}</li>`)}
          </ul>`,
      )}
    </div>
    ${pods.length > maxShown && html`<p class="faint">and ${plural(pods.length - maxShown, 'more Pod')}</p>`}
    <p class="legend">
      ${['ready', 'not ready', 'terminating', 'unknown'].map((state) => html`<span><i class=${classOf(state)}></i>${state}</span>`)}
    </p>
  </section>`;
}

type Period = Pick<RolloutView, 'from' | 'to'>;

function beltOf(route: ServiceRoute, spans: RolloutView['pods'][number]['spans'], { from, to }: Period) {
  const shown = spans.map((span) => ({
    ...{ from: span.from, to: span.to, class: classOf(span.state) },
    text: `${span.state} from ${dateAndTime(span.from, true)} for ${duration((span.to ?? to) - span.from)}`,
    link: { ...route, at: span.from },
  }));
  return html`<${Belt} since=${from} until=${to} spans=${shown} />`;
}

const classOf = (state: string): string => `pod ${state.replace(' ', '-')}`;
