import type { Service } from '@sluice/model';
import { changedIndexes } from '../pods.ts';

/**
 * Last observed trigger times of one Service (C15): RFC 3339 in UTC, as the API server writes them. Plain data, because
 * it is stored.
 */
export interface TriggerTimes {
  /** `creationTimestamp` of the Service. */
  readonly service: string | null;
  /** Last transition of the Ready condition, keyed by Pod name. Pods without one have no entry. */
  readonly pods: Times;
  /** Overrides of `pods`, so that a flip of one Pod does not copy a map of thousands. */
  readonly since?: Times;
}

type Times = Readonly<Record<string, string>>;

interface ComputedTriggerTime {
  /** State to keep if the plan that uses the time succeeds. The same object if nothing changed. */
  readonly state: TriggerTimes;
  /** Earliest time that is later than the known one, or null (C16). */
  readonly triggerTime: string | null;
}

interface PodTransition {
  readonly pod: { readonly name: string; readonly readyTransitionTime: string | null };
}

/** Cache of the Pods that a state was computed from. Pods that are the same objects have the same times. */
const podsCache = new WeakMap<TriggerTimes, readonly PodTransition[]>();

/**
 * Computes the last-change trigger time of a Service and its next state (C16). `pods` are all Pods that the selector
 * matches, eligible or not. Without a state the result is the Service's creation time.
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
  if (created === known.service && changes.times.length === 0 && !changes.removed) {
    return { state: cached(known, pods), triggerTime: null };
  }
  const state = changes.removed ? stateOf(created, pods) : stateAfter(known, changes, created, pods);
  return { state, triggerTime: earliest };
}

interface TimeChanges {
  /** Pods whose time differs from the known one. */
  readonly times: readonly { readonly name: string; readonly before: string | undefined; readonly time: string }[];
  /** Whether Pods with a known time are missing. */
  readonly removed: boolean;
}

function changedTimes(known: TriggerTimes, pods: readonly PodTransition[]): TimeChanges {
  const before = podsCache.get(known);
  const indexes = before && changedIndexes(before, pods);
  const times: { name: string; before: string | undefined; time: string }[] = [];
  let [kept, gone] = [0, 0];
  for (const { pod } of indexes?.flatMap((index) => pods[index] ?? []) ?? pods) {
    const { name, readyTransitionTime: time } = pod;
    const last = known.since?.[name] ?? known.pods[name];
    if (last !== undefined) time === null ? gone++ : kept++;
    if (time !== null && last !== time) times.push({ name, before: last, time });
  }
  return { times, removed: gone > 0 || (indexes === undefined && kept < countOf(known)) };
}

function countOf({ pods, since = {} }: TriggerTimes): number {
  return Object.keys(pods).length + Object.keys(since).filter((name) => pods[name] === undefined).length;
}

function stateOf(service: string | null, pods: readonly PodTransition[]): TriggerTimes {
  // An object without a prototype starts as a dictionary, which is ten times as fast to fill.
  const times: Record<string, string> = Object.create(null);
  for (const { pod } of pods) if (pod.readyTransitionTime !== null) times[pod.name] = pod.readyTransitionTime;
  return cached({ service, pods: times }, pods);
}

/** Up to this many Pods the map is copied instead of overridden. */
const maxCopied = 64;

function stateAfter(
  known: TriggerTimes,
  { times }: TimeChanges,
  service: string | null,
  pods: readonly PodTransition[],
): TriggerTimes {
  const since: Record<string, string> = { ...known.since };
  for (const { name, time } of times) since[name] = time;
  if (pods.length <= maxCopied || Object.keys(since).length > maxCopied) return stateOf(service, pods);
  return cached({ service, pods: known.pods, since }, pods);
}

function cached(state: TriggerTimes, pods: readonly PodTransition[]): TriggerTimes {
  podsCache.set(state, pods);
  return state;
}

/** API times compare as text: one format, one time zone, whole seconds. */
function isLater(a: string, b: string): boolean {
  return a > b;
}

function earlierOf(a: string | null, b: string): string {
  return a === null || b < a ? b : a;
}
