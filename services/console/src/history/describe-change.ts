import { controllers, endpointsWriter, sliceControllers } from '@sluice/controllers';
import type { Change, Fact } from '@sluice/messages';
import { type Controller, type EndpointSlice, type Endpoints, type Service, serviceNameLabel } from '@sluice/model';
import { type FieldChange, isDeletedByPlan, type ServiceState } from '@sluice/service-state';
import { signs } from '../../page/entry-text.ts';
import type { Observation } from '../view/entry-schemas.ts';
import { describePodChange } from './describe-pod-change.ts';
import { endpointChanges } from './endpoint-changes.ts';

type ChangeOf<K extends FieldChange['kind']> = Extract<FieldChange, { kind: K }>;

const missing = 'was missing from the snapshot';

/** Whether another client wrote or deleted the slice or Endpoints, as far as known. */
export const isOtherWrite = ({ of, text }: Observation): boolean =>
  (of === 'slice' || of === 'endpoints') && text !== missing && !/^exists?\b/.test(text);

/** Describes how a Change changed the state. The watch echo of Sluice's own writes is not described. */
export function describeChange(state: ServiceState, change: Change, changes: readonly FieldChange[]): Observation[] {
  const isServiceDeleted = changes.some(
    ({ kind, before, after }) => kind === 'service' && before?.service && !after?.service,
  );
  return changes.flatMap((field): Observation[] => {
    const observations = (of: Observation['of'], name: string, texts: readonly string[]) =>
      texts.map((text) => ({ of, name, text }));
    switch (field.kind) {
      case 'service': {
        const { before, after } = field;
        const texts = describeServiceChange(before?.service ?? null, after?.service ?? null);
        return observations('service', state.key.service, texts);
      }
      case 'pod':
        return isServiceDeleted ? [] : observations('pod', field.name, podTexts(change, field));
      case 'topology':
        return isServiceDeleted ? [] : observations('topology', '', topologyTexts(field));
      case 'slice':
        return observations('slice', field.name, sliceTexts(state, change, field));
      case 'endpoints':
        return observations('endpoints', state.key.service, endpointsTexts(state, change, field));
      default:
        return [];
    }
  });
}

function podTexts(change: Change, { name, before, after }: ChangeOf<'pod'>): readonly string[] {
  if (after === undefined && !change.facts.some((fact) => fact.kind === 'pod' && fact.name === name)) return [missing];
  return describePodChange(before ?? null, after ?? null);
}

function topologyTexts({ before, after }: ChangeOf<'topology'>): readonly string[] {
  return JSON.stringify(before) === JSON.stringify(after) ? [] : ['changed the CPU ratio of the zones'];
}

function sliceTexts(
  state: ServiceState,
  change: Change,
  { name, before, after }: ChangeOf<'slice'>,
): readonly string[] {
  if (after === undefined) return before === undefined ? [] : deletedTexts(state, change, before.slice);
  if (before?.slice === after.slice || isOwnWrite(state, name, after.slice)) return [];
  if (before === undefined) return [`exists with ${after.slice.endpoints?.length ?? 0} endpoints`];
  return [sliceModifiedText(managerOf(change, name), before.slice, after.slice)];
}

function deletedTexts(state: ServiceState, change: Change, { metadata }: EndpointSlice): readonly string[] {
  const isFact = (fact: Fact) => fact.kind === 'slice' && fact.name === metadata.name;
  const fact = change.facts.find(isFact);
  if (fact === undefined && change.snapshot?.last) return [missing];
  if (controllers.some((controller) => isDeletedByPlan(state, controller, metadata.uid ?? ''))) return [];
  const isRelabelled = fact?.kind === 'slice' && fact.relabelled;
  if (!isRelabelled) return ['was deleted by another client'];
  return [`${relabelledText(fact.labelledFor)}${fact.manager === undefined ? '' : ` (${fact.manager})`}`];
}

/** `was modified by kubectl-edit: − cart-1`, without the endpoints if a version is unknown. */
export const sliceModifiedText = (
  manager: string | undefined,
  before: EndpointSlice | undefined,
  after: EndpointSlice | undefined,
): string => `was modified by ${manager ?? anotherClient}${before && after ? modificationText(before, after) : ''}`;

export const endpointsModifiedText = (manager: string | undefined) => `were modified by ${manager ?? anotherClient}`;

const anotherClient = 'another client';

function managerOf({ facts }: Change, slice: string): string | undefined {
  const fact = facts.find((one) => one.kind === 'slice' && one.name === slice);
  return fact?.kind === 'slice' ? fact.manager : undefined;
}

function endpointsManagerOf({ facts }: Change): string | undefined {
  const fact = facts.find(({ kind }) => kind === 'endpoints');
  return fact?.kind === 'endpoints' ? fact.manager : undefined;
}

/** `service`: the Service that its label names now; empty: it has lost the label. */
function relabelledText(service: string | undefined): string {
  if (service === undefined) return 'was relabelled to another Service';
  return service === '' ? `lost its label ${serviceNameLabel}` : `was relabelled to Service ${service}`;
}

/** Endpoints shown of a modified slice. */
const maxShown = 5;

/** How a modification changes the endpoints of a slice: `: − cart-1`. Empty if it changes none. */
function modificationText(before: EndpointSlice, after: EndpointSlice): string {
  const changes = endpointChanges(after.metadata.name, before, after).map(
    ({ type, pod, addresses }) => `${signs[type]} ${pod || addresses.join(' ')}`,
  );
  if (changes.length === 0) return '';
  const more = changes.length > maxShown ? [`${changes.length - maxShown} more`] : [];
  return `: ${[...changes.slice(0, maxShown), ...more].join(', ')}`;
}

function endpointsTexts(
  state: ServiceState,
  change: Change,
  { before, after }: ChangeOf<'endpoints'>,
): readonly string[] {
  if (after === undefined) {
    const uid = before?.endpoints.metadata.uid ?? '';
    return before === undefined || isDeletedByPlan(state, endpointsWriter, uid)
      ? []
      : ['were deleted by another client'];
  }
  const { endpoints } = after;
  if (before?.endpoints === endpoints || isOwnWrite(state, endpoints.metadata.name, endpoints, [endpointsWriter]))
    return [];
  return [before === undefined ? 'exist' : endpointsModifiedText(endpointsManagerOf(change))];
}

/** Whether the watch delivered this version while a plan that writes the object is in flight: probably its own write. */
function isOwnWrite(
  state: ServiceState,
  name: string,
  { metadata }: EndpointSlice | Endpoints,
  of: readonly Controller[] = sliceControllers,
): boolean {
  return of.some((controller) => state.controller(controller).inFlight?.watchEchoes[name] === metadata.resourceVersion);
}

/** Describes changes of a Service that affect endpoints; empty if there are none. Null: the Service does not exist. */
export function describeServiceChange(before: Service | null, after: Service | null): string[] {
  if (after === null) return before === null ? [] : ['was deleted'];
  if (before === null) return [`exists with ${selectorText(after)}`];
  if (before.uid !== after.uid) return [`was deleted and recreated with ${selectorText(after)}`];
  const texts: string[] = [];
  const differs = (field: keyof Service) => JSON.stringify(before[field]) !== JSON.stringify(after[field]);
  if (!before.deleting && after.deleting) texts.push('is being deleted');
  if (differs('selector')) texts.push(`changed its selector: ${selectorText(after)}`);
  if (differs('ports')) texts.push('changed its ports');
  if (differs('type')) texts.push(`changed its type to ${after.type}`);
  if (differs('clusterIP') || differs('ipFamilies')) texts.push('changed its IP families');
  if (differs('publishNotReadyAddresses'))
    texts.push(`${after.publishNotReadyAddresses ? 'publishes' : 'no longer publishes'} not-ready addresses`);
  if (differs('trafficDistribution'))
    texts.push(`changed its traffic distribution to ${after.trafficDistribution ?? '(none)'}`);
  for (const [field, name] of trafficPolicies)
    if (differs(field)) texts.push(`changed its ${name} traffic policy to ${after[field] ?? 'Cluster'}`);
  if (differs('labels')) texts.push('changed its labels');
  if (differs('annotations')) texts.push('changed its annotations for topology hints');
  return texts;
}

const trafficPolicies = [
  ['internalTrafficPolicy', 'internal'],
  ['externalTrafficPolicy', 'external'],
] as const;

export function selectorText({ selector }: Service): string {
  if (selector === null) return 'no selector (custom endpoints)';
  const pairs = Object.entries(selector).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0
    ? 'an empty selector, which matches every Pod of the namespace'
    : `selector ${pairs.join(',')}`;
}
