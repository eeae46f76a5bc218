import type { EventToRecord } from '@sluice/controllers';
import type { Random } from '@sluice/runtime';

export interface Occurrences {
  readonly count: number;
  /** In milliseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
}

export interface EventObject {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly [field: string]: unknown;
}

/**
 * The core/v1 Event to be stored for `event` (section J). Without a namespace, as for an object that is not stored yet,
 * it goes to `default` (J1).
 */
export function eventObject(
  event: EventToRecord,
  component: string,
  { count, firstAt, lastAt }: Occurrences,
  random: Random,
): EventObject {
  const namespace = event.regarding.namespace || 'default';
  const suffix = Math.floor(lastAt).toString(16) + Math.floor(random.next() * 2 ** 32).toString(16);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    // Names may have 253 characters.
    metadata: { namespace, name: `${event.regarding.name.slice(0, 230)}.${suffix}` },
    involvedObject: { apiVersion: 'v1', ...event.regarding },
    type: event.type,
    reason: event.reason,
    message: event.message.slice(0, 1024),
    source: { component },
    reportingComponent: component,
    reportingInstance: '',
    firstTimestamp: timestamp(firstAt),
    lastTimestamp: timestamp(lastAt),
    count,
  };
}

/** Whole seconds, as metav1.Time has them. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
