import type { RawObject } from '@sluice/kubernetes';

/** Fields of events.k8s.io/v1 and their names in core/v1, the stored form. */
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
