import {
  type Controller,
  type EndpointSlice,
  endpointSliceController,
  endpointSliceMirroringController,
  isMirrorable,
  managedByLabel,
} from '@sluice/controllers';
import type { ServiceState } from './service-state.ts';

/** A controller that writes slices. */
export type SliceController = Exclude<Controller, 'endpoints'>;

/** The controller whose slice this is by its label; undefined: none of ours. */
export function managerOf(slice: EndpointSlice): SliceController | undefined {
  switch (slice.metadata.labels?.[managedByLabel]) {
    case endpointSliceController:
      return 'endpointslice';
    case endpointSliceMirroringController:
      return 'endpointslicemirroring';
    default:
      return undefined;
  }
}

/** The controller that looks again when something happens to the slice; also to one that nobody of ours manages. */
export function observerOf(slice: EndpointSlice): SliceController {
  return managerOf(slice) ?? 'endpointslice';
}

export function slicesOf(view: ServiceState, controller: SliceController): EndpointSlice[] {
  const slices: EndpointSlice[] = [];
  for (const { slice } of view.slices.values()) if (managerOf(slice) === controller) slices.push(slice);
  return slices;
}

/** False: what was mirrored is cleaned up (H6). */
export function isMirrored(view: ServiceState): boolean {
  const endpoints = view.endpoints?.endpoints;
  return endpoints !== undefined && isMirrorable(endpoints) && view.service?.service?.selector === null;
}
