import { hintsEnabled, isMirrorable } from '@sluice/controllers';
import type { SimilarPods } from '@sluice/messages';
import type { Controller, Service } from '@sluice/model';
import { selectorText } from '../history/describe-change.ts';
import type { HistoryState } from '../history/history-state.ts';
import { hintNotes } from './explain-hints.ts';

/**
 * Notes about a Service as a whole, most important first; empty if there is nothing unusual.
 *
 * @param sees whether the reader may see another namespace. Default: all
 */
export function explainService(state: HistoryState, sees: (namespace: string) => boolean = () => true): string[] {
  const { service } = state;
  if (state.isRemoved) return ['The fleet no longer serves the cluster of this Service.'];
  if (!state.isComplete) return ['The history of this Service is incomplete until the next snapshot.'];
  if (service === null) {
    return [
      state.slices.size + (state.endpoints ? 1 : 0) > 0
        ? 'The Service does not exist. Its remaining objects belong to another controller or are about to be deleted.'
        : 'The Service does not exist.',
    ];
  }
  const notes: string[] = [];
  for (const [controller, { message }] of state.refused)
    notes.push(
      `The API server refuses writes of the ${controller} controller: ${message}${nextTry(state, controller)}`,
    );
  if (state.repair !== null) notes.push(repairNote(state.repair));
  if (service.deleting) notes.push('The Service is being deleted.');
  if (service.type === 'ExternalName')
    return [...notes, 'The Service is of type ExternalName, which has no endpoints.'];
  if (service.selector === null) return [...notes, mirroringNote(state)];
  if (state.pods.size === 0) notes.push(`${noPodsText(service, state.similarPods, sees)}.`);
  if (service.publishNotReadyAddresses) notes.push('The Service publishes addresses of Pods that are not ready.');
  if (service.trafficDistribution !== null && !hintsEnabled(service.annotations))
    notes.push(
      `Its traffic distribution is ${service.trafficDistribution}: each ready endpoint has a hint for its own location.`,
    );
  return [...notes, ...hintNotes(state, service)];
}

/** Nothing while it is being tried. */
function nextTry({ state }: HistoryState, controller: Controller): string {
  const { inFlight, timers } = state.controller(controller);
  if (inFlight !== null) return '';
  return timers.dueAt === null
    ? '; next try after a change or a resync'
    : `; next try at ${new Date(timers.dueAt).toISOString()}`;
}

/** Writes shown of a repair. */
const maxWrites = 2;

function repairNote({ writes, objects, at }: NonNullable<HistoryState['repair']>): string {
  const texts = writes
    .slice(0, maxWrites)
    .map(({ of, name, text }) => `${of === 'endpoints' ? 'Endpoints' : 'EndpointSlice'} ${name} ${text}`);
  const more = writes.length > maxWrites ? `; ${writes.length - maxWrites} more` : '';
  const what = texts.length === 0 ? `Another client wrote ${objects.join(', ')}` : `${texts.join('; ')}${more}`;
  return `${what}. Sluice repaired it at ${new Date(at).toISOString()}.`;
}

/** Why a Service with a selector has no Pods. `sees`: whether the reader may know of a namespace. */
export function noPodsText(
  service: Service,
  similar: SimilarPods | undefined,
  sees: (namespace: string) => boolean,
): string {
  const { namespace } = similar ?? {};
  if (similar === undefined || (namespace !== undefined && !sees(namespace)))
    return `No Pod matches: the Service has ${selectorText(service)}`;
  const selector = Object.entries(service.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  if (namespace !== undefined) {
    const pods = similar.pods === 1 ? '1 Pod matches' : `${similar.pods} Pods match`;
    return `No Pod matches ${selector.join(',')} in this namespace; ${pods} in namespace ${namespace}`;
  }
  const pods = similar.pods === 1 ? '1 Pod in this namespace has' : `${similar.pods} Pods in this namespace have`;
  return `No Pod matches ${selector.join(',')}; ${pods} ${similar.label}`;
}

function mirroringNote({ endpoints }: HistoryState): string {
  if (endpoints === null) return 'The Service has no selector, and there are no Endpoints to mirror.';
  if (!isMirrorable(endpoints))
    return 'The Service has no selector, and its Endpoints are excluded from mirroring; another controller owns its slices.';
  return 'The Service has no selector; its custom Endpoints are mirrored into slices.';
}
