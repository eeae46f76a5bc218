import { parseServiceKey } from '@sluice/messages';
import type { DisruptedService, RecordedNodeDisruption } from '@sluice/recording';
import type { NodeDisruptionView } from './schemas.ts';
import { quantile } from './summarize-drain.ts';

/** What the disruption of a Node did to each Service. `until`: until when outages count that continue. */
export function summarizeDisruption(
  { services, ...disruption }: RecordedNodeDisruption,
  { clusterName, until }: { readonly clusterName: string; readonly until: number },
): NodeDisruptionView {
  const summarized = services
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map((one) => summarizeService(one, until))
    .sort((a, b) => b.lostMs - a.lostMs);
  return { ...disruption, clusterName, services: summarized };
}

function summarizeService(
  { key, leftAfterMs, ...impact }: DisruptedService,
  until: number,
): NodeDisruptionView['services'][number] {
  const { namespace, service: name } = parseServiceKey(key);
  const left = leftAfterMs.length;
  const lostMs = impact.outages.reduce((sum, { from, to }) => sum + (to ?? until) - from, 0);
  return {
    ...{ namespace, name, ...impact, left, lostMs },
    p50Ms: left === 0 ? null : quantile(leftAfterMs, 0.5),
    maxMs: leftAfterMs.at(-1) ?? null,
  };
}
