import { hintsEnabled, isMirrorable } from '@sluice/controllers';
import type { HistoryState } from '../history/history-state.ts';
import { selectorText } from '../history/service-news.ts';

/** What there is to say of a Service as a whole. For people, the weightiest first. */
export function explainService(state: HistoryState): string[] {
  const { service } = state;
  if (!state.isComplete) return ['The history begins in the middle: not everything is known of this Service yet.'];
  if (service === null) {
    return [
      state.slices.size + (state.endpoints ? 1 : 0) > 0
        ? 'The Service does not exist; what is left of it belongs to somebody else, or is about to go.'
        : 'The Service does not exist.',
    ];
  }
  const notes: string[] = [];
  for (const [controller, { message }] of state.refused) {
    notes.push(`The API server refuses what the ${controller} controller wants to write: ${message}`);
  }
  if (service.deleting) notes.push('The Service is being deleted.');
  if (service.type === 'ExternalName') return [...notes, 'It is of type ExternalName, which has no endpoints.'];
  if (service.selector === null) return [...notes, custom(state)];
  if (state.pods.size === 0) notes.push(`No Pod matches: it has ${selectorText(service)}.`);
  if (service.publishNotReadyAddresses) notes.push('It publishes addresses of Pods that are not ready.');
  if (service.trafficDistribution !== null)
    notes.push(
      `Its traffic distribution is ${service.trafficDistribution}: each ready endpoint is hinted to its own place.`,
    );
  if (hintsEnabled(service.annotations)) notes.push(...topology(state));
  return notes;
}

function custom({ endpoints }: HistoryState): string {
  if (endpoints === null) return 'It has no selector, and there are no Endpoints of its name to be mirrored.';
  if (!isMirrorable(endpoints))
    return 'It has no selector, and the Endpoints of its name ask not to be mirrored: their slices are somebody’s own.';
  return 'It has no selector: the Endpoints of its name are somebody’s own, and are mirrored into slices.';
}

function topology({ hints, topology }: HistoryState): string[] {
  const ratios = Object.entries(topology?.zoneRatios ?? {}).map(
    ([zone, ratio]) => `${zone} ${Math.round(ratio * 100)} %`,
  );
  const shares =
    ratios.length > 0
      ? `The zones' shares of CPU are ${ratios.join(', ')}.`
      : 'The Nodes do not tell enough for topology hints.';
  return [shares, ...(hints ? [`Topology hints: ${hints.message}.`] : [])];
}
