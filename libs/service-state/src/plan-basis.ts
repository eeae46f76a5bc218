import { decisionOrder } from '@sluice/controllers';
import { comparePlans, compareStamps, type LoggedSettings, type PlannedMutations } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import type { ServiceState } from './service-state.ts';
import { defaultSettings, type Settings } from './settings.ts';

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
