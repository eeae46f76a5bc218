import {
  controllerManaging,
  decisionOrder,
  descriptorOf,
  endpointSliceTracker,
  endpointsWriter,
  type Reconciled,
  reads,
  sliceControllers,
  type TrackedSlices,
} from '@sluice/controllers';
import { comparePlans, compareStamps, type LoggedSettings, type PlannedMutations } from '@sluice/messages';
import {
  type Controller,
  type EndpointSlice,
  type MutationGroup,
  managedByLabel,
  serviceNameLabel,
} from '@sluice/model';
import type { ServiceState } from './service-state.ts';
import { defaultSettings, type Settings } from './settings.ts';

/**
 * Runs a controller on the state. Controllers cache parts of their last result by object identity (ADR 0044); the cache
 * affects speed only.
 */
export function reconcile(state: ServiceState, controller: Controller, settings: Settings): Reconciled {
  const { triggers, hints } = state.controller(controller).trackers;
  const { writes, reconcile } = descriptorOf(controller);
  return reconcile({
    service: state.service?.service ?? null,
    pods: reads(controller, 'pods') ? [...state.pods.values()] : [],
    endpoints: state.endpoints?.endpoints ?? null,
    orphaned: state.orphaned,
    slices: writes === 'endpointslices' ? slicesOf(state, controller) : [],
    topology: state.topology,
    triggers,
    hints,
    maxEndpointsPerSlice: settings.maxEndpointsPerSlice,
    maxEndpointsPerSubset: settings.maxEndpointsPerSubset,
    policy: settings.policy.decisions,
  });
}

/**
 * Mirrored slices that need no write are tracked from now on (H15); those of other controllers only if generations prove
 * something. A clean-up of mirrored slices clears the tracker (H6).
 */
export function trackUnchanged(
  state: ServiceState,
  controller: Controller,
  groups: readonly MutationGroup[],
  { policy }: Settings,
): TrackedSlices {
  const { tracked } = state.controller(controller).trackers;
  const { writes, trackers } = descriptorOf(controller);
  if (writes === 'endpoints' || !(trackers.unchanged || policy.provesByGeneration)) return tracked;
  if (trackers.needsNone?.(state.service?.service ?? null, state.endpoints?.endpoints ?? null))
    return endpointSliceTracker.noTrackedSlices;
  const untracked: EndpointSlice[] = [];
  for (const { slice } of state.slices.values()) {
    if (isOwn(state, slice, controller) && !endpointSliceTracker.has(tracked, slice)) untracked.push(slice);
  }
  if (untracked.length === 0) return tracked;
  const written = new Set(
    groups.flatMap(({ mutations }) => mutations.map((m) => (m.verb === 'delete' ? m.name : m.object.metadata.name))),
  );
  let next = tracked;
  for (const slice of untracked) {
    if (!written.has(slice.metadata.name)) next = endpointSliceTracker.update(next, slice);
  }
  return next;
}

/** The controller that the slice's label names; undefined: none of ours. */
export function managerOf(slice: EndpointSlice): Controller | undefined {
  return controllerManaging(slice.metadata.labels?.[managedByLabel]);
}

/** The controller that decides again when the slice changes; for a slice that none of ours manages, the first one. */
export function observerOf(slice: EndpointSlice): Controller {
  return managerOf(slice) ?? sliceControllers[0] ?? endpointsWriter;
}

/** Whether the controller manages the slice for this Service. */
export function isOwn(state: ServiceState, slice: EndpointSlice, controller: Controller): boolean {
  return managerOf(slice) === controller && belongsToService(state, slice);
}

/** False if a client changed the label that names the slice's Service. */
export function belongsToService(state: ServiceState, slice: EndpointSlice): boolean {
  return slice.metadata.labels?.[serviceNameLabel] === state.key.service;
}

/**
 * The controller's slices, the oldest first. Of slices with the same endpoints, decisions keep the first; two controllers
 * that both write must agree on it, or each deletes the other's (ADR 0054).
 */
export function slicesOf(state: ServiceState, controller: Controller): EndpointSlice[] {
  const slices: EndpointSlice[] = [];
  for (const { slice } of state.slices.values()) if (isOwn(state, slice, controller)) slices.push(slice);
  return slices.sort(byAge);
}

/** A slice whose creation time is not known yet counts as the newest. */
function byAge({ metadata: a }: EndpointSlice, { metadata: b }: EndpointSlice): number {
  const [createdA = '~', createdB = '~'] = [a.creationTimestamp, b.creationTimestamp];
  if (createdA !== createdB) return createdA < createdB ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

/** Numbers of the plans in flight of the other controllers. */
export function othersInFlight(state: ServiceState, controller: Controller): readonly number[] {
  const numbers: number[] = [];
  for (const other of decisionOrder) {
    const { inFlight } = state.controller(other);
    if (other !== controller && inFlight !== null) numbers.push(inFlight.message.plan.number);
  }
  return numbers;
}

/**
 * Whether the state is the one on which the plan was decided, or a later one; undefined if the plan does not say. A controller
 * decides only after the Outcome of its last plan.
 */
export function isBasisReached(
  state: ServiceState,
  { controller, plan, basis }: PlannedMutations,
): boolean | undefined {
  if (basis === undefined) return undefined;
  const { inFlight } = state.controller(controller);
  if (inFlight !== null && comparePlans(inFlight.message.plan, plan) < 0) return false;
  const isLater = compareStamps(state.snapshot.stamp, basis.stamp);
  if (isLater !== 0) return isLater > 0;
  const pending = othersInFlight(state, controller).filter((number) => number < plan.number);
  return pending.every((number) => basis.inFlight.includes(number));
}

/** Settings on which `evolve` or `decide` depends, besides `controllers`. Policies are not configured: clusters have `neverStale`. */
const names = [
  'maxEndpointsPerSlice',
  'maxEndpointsPerSubset',
  'batchPeriodMs',
  'batching',
  'backoff',
  'maxAttempts',
  'parkedRetryMs',
] as const satisfies readonly (keyof Settings & keyof LoggedSettings)[];

const known = new WeakMap<Settings, LoggedSettings | null>();

/** What a plan says of the settings with which it was decided; undefined if they are the defaults. */
export function loggedSettings(settings: Settings): LoggedSettings | undefined {
  let logged = known.get(settings);
  if (logged === undefined) {
    const all = Object.entries(loggable(settings)).filter(([name, value]) => !isDefault(name, value));
    logged = all.length === 0 ? null : (Object.fromEntries(all) as LoggedSettings);
    known.set(settings, logged);
  }
  return logged ?? undefined;
}

/** The settings with which the plan was decided. `base`: what plans do not say, and all settings if this one says nothing. */
export function settingsOfPlan({ basis }: PlannedMutations, base: Settings): Settings {
  if (basis === undefined) return base;
  const { controllers, ...logged } = { ...defaults, ...basis.settings };
  return { ...base, ...(logged as Partial<Settings>), controllers: new Set(controllers) };
}

function loggable(settings: Settings): Readonly<Record<string, unknown>> {
  const values = names.map((name) => [name, settings[name]]);
  return { ...Object.fromEntries(values), controllers: [...settings.controllers].sort() };
}

const defaults = loggable(defaultSettings) as LoggedSettings;

const isDefault = (name: string, value: unknown): boolean =>
  JSON.stringify(value) === JSON.stringify(defaults[name as keyof LoggedSettings]);
