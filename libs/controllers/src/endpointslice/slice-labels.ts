import {
  addedSliceLabels,
  type EndpointSlice,
  endpointSliceController,
  equalStringMaps,
  headlessLabel,
  isServiceIpSet,
  managedByLabel,
  type Service,
  type StringMap,
  serviceNameLabel,
  withoutKeys,
} from '@sluice/model';

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
