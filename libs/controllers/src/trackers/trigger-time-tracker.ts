import type { Service } from '../objects/service.ts';
import { changedPlaces } from '../pods/changed-places.ts';

/**
 * The trigger times last seen of one Service (C15): RFC 3339, UTC, as the API server writes them. Plain data, since it is
 * stored.
 */
export interface TriggerTimes {
  /** `creationTimestamp` of the Service. */
  readonly service: string | null;
  /** By Pod name, the last transition of its Ready condition. Pods without one have no entry. */
  readonly pods: Times;
  /** What has changed of that; so it need not be copied whole for each Pod of a thousand that flips. */
  readonly since?: Times;
}

type Times = Readonly<Record<string, string>>;

export interface ComputedTriggerTime {
  /** The state to keep if the plan that used the time succeeds; the same object if nothing differs. */
  readonly state: TriggerTimes;
  /** The earliest time later than the one known; null if there is none (C16). */
  readonly triggerTime: string | null;
}

interface PodTransition {
  readonly pod: { readonly name: string; readonly readyTransitionTime: string | null };
}

/** The Pods that a state speaks of: those that are the same objects since then have the same times. */
const podsOfState = new WeakMap<TriggerTimes, readonly PodTransition[]>();

/**
 * The last-change trigger time of a Service and the state after it (C16). `pods` are all that the selector matches,
 * whether they are in endpoints or not. A Service without state answers with its own creation.
 */
export function computeTriggerTime(
  known: TriggerTimes | null,
  service: Service,
  pods: readonly PodTransition[],
): ComputedTriggerTime {
  const created = service.creationTimestamp === '' ? null : service.creationTimestamp;
  if (known === null) return { state: stateOf(created, pods), triggerTime: created };
  const changes = changedTimes(known, pods);
  let earliest: string | null = null;
  for (const { before, time } of changes.times) {
    if (before === undefined || isLater(time, before)) earliest = earlierOf(earliest, time);
  }
  if (created !== null && (known.service === null || isLater(created, known.service))) {
    earliest = earlierOf(earliest, created);
  }
  if (created === known.service && changes.times.length === 0 && !changes.gone) {
    return { state: noted(known, pods), triggerTime: null };
  }
  const state = changes.gone ? stateOf(created, pods) : stateAfter(known, changes, created, pods);
  return { state, triggerTime: earliest };
}

interface TimeChanges {
  /** Those that are there and differ from what is known. */
  readonly times: readonly { readonly name: string; readonly before: string | undefined; readonly time: string }[];
  /** Some that are known are there no more. */
  readonly gone: boolean;
}

function changedTimes(known: TriggerTimes, pods: readonly PodTransition[]): TimeChanges {
  const before = podsOfState.get(known);
  const places = before && changedPlaces(before, pods);
  const times: { name: string; before: string | undefined; time: string }[] = [];
  let [kept, gone] = [0, 0];
  for (const { pod } of places?.flatMap((place) => pods[place] ?? []) ?? pods) {
    const { name, readyTransitionTime: time } = pod;
    const last = known.since?.[name] ?? known.pods[name];
    if (last !== undefined) time === null ? gone++ : kept++;
    if (time !== null && last !== time) times.push({ name, before: last, time });
  }
  return { times, gone: gone > 0 || (places === undefined && kept < countOf(known)) };
}

function countOf({ pods, since = {} }: TriggerTimes): number {
  return Object.keys(pods).length + Object.keys(since).filter((name) => pods[name] === undefined).length;
}

function stateOf(service: string | null, pods: readonly PodTransition[]): TriggerTimes {
  // Without a prototype it is a dictionary from the start, which is ten times as fast to fill.
  const times: Record<string, string> = Object.create(null);
  for (const { pod } of pods) if (pod.readyTransitionTime !== null) times[pod.name] = pod.readyTransitionTime;
  return noted({ service, pods: times }, pods);
}

/** So many Pods are quickly copied. */
const few = 64;

function stateAfter(
  known: TriggerTimes,
  { times }: TimeChanges,
  service: string | null,
  pods: readonly PodTransition[],
): TriggerTimes {
  const since: Record<string, string> = { ...known.since };
  for (const { name, time } of times) since[name] = time;
  if (pods.length <= few || Object.keys(since).length > few) return stateOf(service, pods);
  return noted({ service, pods: known.pods, since }, pods);
}

function noted(state: TriggerTimes, pods: readonly PodTransition[]): TriggerTimes {
  podsOfState.set(state, pods);
  return state;
}

/** Times of the API sort like text: one form, one zone, whole seconds. */
function isLater(a: string, b: string): boolean {
  return a > b;
}

function earlierOf(a: string | null, b: string): string {
  return a === null || b < a ? b : a;
}
