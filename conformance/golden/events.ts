import { canonical } from '@sluice/shadow';
import type { RecordedEvent } from './vector.ts';

/** The count of each event, with generated names masked. */
export function countEvents(events: readonly RecordedEvent[] | null | undefined): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { type, reason, message, regarding, count = 1 } of events ?? []) {
    const { kind = '', namespace = '', name = '' } = regarding;
    const key = canonical([type, reason, canonicalMessage(message), kind, namespace, name]);
    counts.set(key, (counts.get(key) ?? 0) + count);
  }
  return counts;
}

/** Events that occur more often on one side, one line per kind. */
export function eventDifferences(
  expected: ReadonlyMap<string, number>,
  actual: ReadonlyMap<string, number>,
  path: string,
): string[] {
  return [...surplus(expected, actual, `${path}: missing`), ...surplus(actual, expected, `${path}: unexpected`)];
}

function* surplus(ones: ReadonlyMap<string, number>, others: ReadonlyMap<string, number>, what: string) {
  for (const [key, count] of ones) {
    const more = count - (others.get(key) ?? 0);
    if (more > 0) yield `${what} ${more} of ${key}`;
  }
}

/** Masks generated names and sorts the parts of an aggregated error `[a, b]`. */
export function canonicalMessage(message: string): string {
  const anonymous = message
    .replace(/failed to (update|delete) (\S*) EndpointSlice for/g, 'failed to $1 * EndpointSlice for')
    .replace(/(endpointslices\.discovery\.k8s\.io |endpointslices )"[^"]*"/g, '$1"*"')
    .replace(/error deleting (\S*) EndpointSlice for/g, 'error deleting * EndpointSlice for');
  const open = anonymous.indexOf('[');
  if (open < 0 || !anonymous.endsWith(']')) return anonymous;
  const parts = anonymous
    .slice(open + 1, -1)
    .split(', ')
    .sort();
  return `${anonymous.slice(0, open)}[${parts.join(', ')}]`;
}
