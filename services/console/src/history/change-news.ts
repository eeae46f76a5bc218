import { type Controller, controllers, type EndpointSlice, type Endpoints } from '@sluice/controllers';
import type { Change, Fact } from '@sluice/messages';
import { type FieldChange, isDeletedByPlan, type ServiceState } from '@sluice/service-state';
import type { News } from './entry.ts';
import { podNews } from './pod-news.ts';
import { serviceNews } from './service-news.ts';

type ChangeOf<K extends FieldChange['kind']> = Extract<FieldChange, { kind: K }>;

const missing = 'was missing from the snapshot';

/** Describes what a Change has changed in the state. What Sluice wrote itself is no news. */
export function changeNews(state: ServiceState, change: Change, changes: readonly FieldChange[]): News[] {
  const isServiceDeleted = changes.some(
    ({ kind, before, after }) => kind === 'service' && before?.service && !after?.service,
  );
  return changes.flatMap((field): News[] => {
    const news = (of: News['of'], name: string, texts: readonly string[]) => texts.map((what) => ({ of, name, what }));
    switch (field.kind) {
      case 'service':
        return news(
          'service',
          state.key.service,
          serviceNews(field.before?.service ?? null, field.after?.service ?? null),
        );
      case 'pod':
        return isServiceDeleted ? [] : news('pod', field.name, podTexts(change, field));
      case 'topology':
        return isServiceDeleted ? [] : news('topology', '', topologyTexts(field));
      case 'slice':
        return news('slice', field.name, sliceTexts(state, change, field));
      case 'endpoints':
        return news('endpoints', state.key.service, endpointsTexts(state, field));
      default:
        return [];
    }
  });
}

function podTexts(change: Change, { name, before, after }: ChangeOf<'pod'>): readonly string[] {
  if (after === undefined && !change.facts.some((fact) => fact.kind === 'pod' && fact.name === name)) return [missing];
  return podNews(before ?? null, after ?? null);
}

function topologyTexts({ before, after }: ChangeOf<'topology'>): readonly string[] {
  return JSON.stringify(before) === JSON.stringify(after) ? [] : ['the Nodes give the zones other shares of CPU'];
}

function sliceTexts(
  state: ServiceState,
  change: Change,
  { name, before, after }: ChangeOf<'slice'>,
): readonly string[] {
  if (after === undefined) return before === undefined ? [] : deletedTexts(state, change, before.slice);
  if (before?.slice === after.slice || isOwnWrite(state, name, after.slice)) return [];
  if (before === undefined) return [`exists with ${after.slice.endpoints?.length ?? 0} endpoints`];
  return ['was changed by somebody else'];
}

function deletedTexts(state: ServiceState, change: Change, { metadata }: EndpointSlice): readonly string[] {
  const isFact = (fact: Fact) => fact.kind === 'slice' && fact.name === metadata.name;
  const fact = change.facts.find(isFact);
  if (fact === undefined && change.snapshot?.last) return [missing];
  if (controllers.some((controller) => isDeletedByPlan(state, controller, metadata.uid ?? ''))) return [];
  const isElsewhere = fact?.kind === 'slice' && fact.relabelled;
  return [isElsewhere ? 'was given to another Service by its labels' : 'was deleted by somebody else'];
}

function endpointsTexts(state: ServiceState, { before, after }: ChangeOf<'endpoints'>): readonly string[] {
  if (after === undefined) {
    const uid = before?.endpoints.metadata.uid ?? '';
    return before === undefined || isDeletedByPlan(state, 'endpoints', uid) ? [] : ['were deleted by somebody else'];
  }
  const { endpoints } = after;
  if (before?.endpoints === endpoints || isOwnWrite(state, endpoints.metadata.name, endpoints, ['endpoints']))
    return [];
  return [before === undefined ? 'exist' : 'were changed by somebody else'];
}

/** Whether the watch delivered this version while the plan in flight writes the object: probably the plan's own write. */
function isOwnWrite(
  state: ServiceState,
  name: string,
  { metadata }: EndpointSlice | Endpoints,
  of: readonly Controller[] = ['endpointslice', 'endpointslicemirroring'],
): boolean {
  return of.some((controller) => state.controller(controller).inFlight?.watchEchoes[name] === metadata.resourceVersion);
}
