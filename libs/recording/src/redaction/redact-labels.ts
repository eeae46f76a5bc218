import {
  endpointController,
  endpointSliceController,
  endpointSliceMirroringController,
  endpointsManagedByLabel,
  headlessLabel,
  lastAppliedAnnotation,
  leaderAnnotation,
  managedByLabel,
  overCapacityAnnotation,
  type StringMap,
  serviceNameLabel,
  skipMirrorLabel,
  topologyAwareHintsAnnotation,
  topologyModeAnnotation,
  triggerTimeAnnotation,
  zoneLabel,
} from '@sluice/model';
import type { Pseudonyms } from './pseudonyms.ts';
import { redactTime } from './redact-text.ts';

/** Keys that the controllers read or write, or that Kubernetes recommends. */
const knownKeys: ReadonlySet<string> = new Set([
  ...[serviceNameLabel, managedByLabel, headlessLabel, skipMirrorLabel, endpointsManagedByLabel, zoneLabel],
  ...[triggerTimeAnnotation, overCapacityAnnotation, leaderAnnotation, lastAppliedAnnotation],
  ...[topologyAwareHintsAnnotation, topologyModeAnnotation],
  ...['name', 'instance', 'version', 'component', 'part-of', 'managed-by'].map((name) => `app.kubernetes.io/${name}`),
]);

/** Values of these keys that say what the controllers did or should do. */
const knownValues: ReadonlySet<string> = new Set([
  ...[endpointController, endpointSliceController, endpointSliceMirroringController],
  ...['true', 'false', 'Auto', 'auto', 'Disabled', 'disabled', 'PreferZone', 'truncated', 'warning'],
]);

/** Labels, annotations or a selector: equal ones stay equal, and a selector matches the same labels. */
export function redactLabels(labels: object, to: Pseudonyms): StringMap {
  return Object.fromEntries(
    Object.entries(labels).map(([key, value]) => [redactLabelKey(key, to), redactLabelValue(key, String(value), to)]),
  );
}

/** `app=cart` */
export function redactLabel(text: string, to: Pseudonyms): string {
  const [key = '', ...value] = text.split('=');
  return `${redactLabelKey(key, to)}=${redactLabelValue(key, value.join('='), to)}`;
}

const redactLabelKey = (key: string, to: Pseudonyms): string => (knownKeys.has(key) ? key : to.text(key, 'label'));

function redactLabelValue(key: string, value: string, to: Pseudonyms): string {
  if (key === serviceNameLabel) return to.text(value, 'service');
  if (key === triggerTimeAnnotation) return redactTime(value, to);
  return knownKeys.has(key) && knownValues.has(value) ? value : to.text(value, 'value');
}
