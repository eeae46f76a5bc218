import type { ConditionView } from '../../src/view/schemas.ts';
import { html } from '../html.ts';

/** The names of conditions for people. */
export const conditionNames: Readonly<Record<ConditionView['type'], string>> = {
  NotServed: 'not served',
  ServedByOneCluster: 'served by one cluster',
  NoReadyEndpointsInCluster: 'no ready endpoints in a cluster',
  LostClusterCounts: 'lost cluster counts',
  SpecDiffers: 'spec differs',
  MissingInCluster: 'missing in a cluster',
};

/** A condition in one line. */
export function Condition({ condition, more = 0 }: { condition: ConditionView; more?: number }) {
  const { type, severity, message } = condition;
  return html`<span class=${`condition ${severity}`} title=${`${severity}: ${type}: ${message}`}
    ><i aria-hidden="true"></i><span class="visually-hidden">${severity}: </span><b>${type === 'SpecDiffers' ? `spec differs: ${message}` : message}</b>${
      more > 0 && html`<small title="further conditions">+${more}</small>`
    }</span
  >`;
}
