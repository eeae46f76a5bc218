import { parseServiceKey } from '@sluice/messages';
import type { DisruptedService, RecordedNodeDisruption } from '@sluice/recording';
import type { NodeDisruptionView } from './schemas.ts';
import { quantile } from './summarize-drain.ts';

/** What the disruption of a Node did to each Service. `until`: until when outages count that continue. */
export function summarizeDisruption(
  { services, ...disruption }: RecordedNodeDisruption,
  { clusterName, until }: { readonly clusterName: string; readonly until: number },
): NodeDisruptionView {
  const lostFor = ({ outages }: Pick<DisruptedService, 'outages'>) =>
    outages.reduce((sum, { from, to }) => sum + (to ?? until) - from, 0);
  const sorted = services.toSorted((a, b) => lostFor(b) - lostFor(a) || (a.key < b.key ? -1 : 1));
  return { ...disruption, clusterName, services: sorted.map(summarizeService) };
}

function summarizeService({ key, leftAfterMs, ...impact }: DisruptedService): NodeDisruptionView['services'][number] {
  const { namespace, service: name } = parseServiceKey(key);
  const left = leftAfterMs.length;
  return {
    ...{ namespace, name, ...impact, left },
    p50Ms: left === 0 ? null : quantile(leftAfterMs, 0.5),
    maxMs: leftAfterMs.at(-1) ?? null,
  };
}
