import { equalStringMaps, withoutKeys } from '../comparison/string-maps.ts';
import type { EndpointSlice } from '../objects/endpointslice.ts';
import type { StringMap } from '../objects/metadata.ts';
import { isServiceIpSet, type Service } from '../objects/service.ts';
import {
  addedSliceLabels,
  endpointSliceController,
  headlessLabel,
  managedByLabel,
  serviceNameLabel,
} from '../objects/well-known.ts';

const reservedLabels: readonly string[] = [serviceNameLabel, managedByLabel, headlessLabel];

/**
 * The labels of every EndpointSlice of a Service: the Service's own labels without the reserved ones, plus the reserved
 * ones (E26). To add a label to all slices, add it to `addedSliceLabels`.
 */
export function sliceLabels(service: Service): StringMap {
  let labels = labelsOf.get(service);
  if (labels === undefined) {
    labels = computeLabels(service);
    labelsOf.set(service, labels);
  }
  return labels;
}

/** A cache: most decisions follow changes of Pods, not of their Service. */
const labelsOf = new WeakMap<Service, StringMap>();

function computeLabels(service: Service): StringMap {
  return {
    ...withoutKeys(service.labels, reservedLabels),
    ...addedSliceLabels,
    ...(!isServiceIpSet(service) && { [headlessLabel]: '' }),
    [serviceNameLabel]: service.name,
    [managedByLabel]: endpointSliceController,
  };
}

/** Whether a slice has the labels of its Service's slices, ignoring the reserved ones (E26). */
export function hasSliceLabels(slice: EndpointSlice, service: Service): boolean {
  const { labels } = slice.metadata;
  const desired = sliceLabels(service);
  if (labels === desired) return true;
  return equalStringMaps(withoutKeys(labels, reservedLabels), withoutKeys(desired, reservedLabels));
}
