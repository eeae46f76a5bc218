import type { Service } from '../objects/service.ts';

/**
 * The trigger times last seen of one Service (C15): RFC 3339, UTC, as the API server writes them. Plain data, since it is
 * stored.
 */
export interface TriggerTimes {
  /** `creationTimestamp` of the Service. */
  readonly service: string | null;
  /** By Pod name, the last transition of its Ready condition. Pods without one have no entry. */
  readonly pods: Readonly<Record<string, string>>;
}

export interface ComputedTriggerTime {
  /** The state to keep if the plan that used the time succeeds; the same object if nothing differs. */
  readonly state: TriggerTimes;
  /** The earliest time later than the one known; null if there is none (C16). */
  readonly triggerTime: string | null;
}

interface PodTransition {
  readonly name: string;
  readonly readyTransitionTime: string | null;
}

/**
 * The last-change trigger time of a Service and the state after it (C16). `pods` are all that the selector matches,
 * whether they are in endpoints or not. A Service without state answers with its own creation.
 */
export function computeTriggerTime(
  known: TriggerTimes | null,
  service: Service,
  pods: Iterable<PodTransition>,
): ComputedTriggerTime {
  const list = [...pods];
  const created = service.creationTimestamp === '' ? null : service.creationTimestamp;
  if (known === null) return { state: { service: created, pods: podTimes(list) }, triggerTime: created };
  let earliest: string | null = null;
  let changed = created !== known.service;
  let count = 0;
  for (const { name, readyTransitionTime: time } of list) {
    if (time === null) continue;
    count++;
    const before = known.pods[name];
    if (before === time) continue;
    changed = true;
    if (before === undefined || isLater(time, before)) earliest = earlierOf(earliest, time);
  }
  if (created !== null && (known.service === null || isLater(created, known.service))) {
    earliest = earlierOf(earliest, created);
  }
  if (!changed && count === Object.keys(known.pods).length) return { state: known, triggerTime: null };
  return { state: { service: created, pods: podTimes(list) }, triggerTime: earliest };
}

function podTimes(pods: readonly PodTransition[]): Readonly<Record<string, string>> {
  const times: Record<string, string> = {};
  for (const { name, readyTransitionTime } of pods) if (readyTransitionTime !== null) times[name] = readyTransitionTime;
  return times;
}

/** Times of the API sort like text: one form, one zone, whole seconds. */
function isLater(a: string, b: string): boolean {
  return a > b;
}

function earlierOf(a: string | null, b: string): string {
  return a === null || b < a ? b : a;
}
