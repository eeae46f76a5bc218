import type { EventToRecord } from '@sluice/model';
import type { Random } from '@sluice/platform';

interface EventCount {
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
}

export interface EventObject {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly [field: string]: unknown;
}

/**
 * The core/v1 Event for `event` (section J). It goes to the namespace `default` if the object has none, e.g. because it is not
 * stored yet (J1).
 */
export function eventObject(
  event: EventToRecord,
  component: string,
  { count, firstAt, lastAt }: EventCount,
  random: Random,
): EventObject {
  const namespace = event.regarding.namespace || 'default';
  const suffix = Math.floor(lastAt).toString(16) + Math.floor(random.next() * 2 ** 32).toString(16);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    // Names have at most 253 characters.
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

/** metav1.Time: RFC 3339 with whole seconds. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
