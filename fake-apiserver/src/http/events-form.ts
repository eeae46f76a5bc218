import type { RawObject } from '@sluice/kubernetes';

/** The fields that have another name in events.k8s.io/v1, with their name in core/v1, in which Events are stored. */
const names: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];
const toCore = new Map(names);
const fromCore = new Map(names.map(([newer, core]) => [core, newer]));

export function toCoreEvent(event: RawObject): RawObject {
  return { ...renamed(event, toCore), apiVersion: 'v1' };
}

export function fromCoreEvent(event: RawObject): RawObject {
  const shown = renamed(event, fromCore);
  return 'apiVersion' in event ? { ...shown, apiVersion: 'events.k8s.io/v1' } : shown;
}

function renamed(object: RawObject, map: ReadonlyMap<string, string>): RawObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [map.get(key) ?? key, value]));
}
