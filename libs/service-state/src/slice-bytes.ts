import type { EndpointSlice, MutationGroup } from '@sluice/controllers';

/** Metadata of a slice with one owner and one entry of managedFields. */
const bytesPerSlice = 900;
/** Conditions, kinds and tags of an endpoint of a Pod, with its uid. */
const bytesPerEndpoint = 85;

/**
 * About how many bytes a watcher receives for this slice in protobuf. An estimate from the parts that vary: encoding the slice
 * would cost more than deciding about it.
 */
export function sliceBytes({ metadata, endpoints }: EndpointSlice): number {
  let bytes = bytesPerSlice + 6 * metadata.name.length;
  for (const { addresses, nodeName = '', zone = '', hostname = '', targetRef } of endpoints ?? []) {
    bytes += bytesPerEndpoint + nodeName.length + zone.length + hostname.length;
    bytes += (targetRef?.name?.length ?? 0) + (targetRef?.namespace?.length ?? 0);
    for (const address of addresses) bytes += address.length;
  }
  return bytes;
}

/** About how many bytes each watcher of EndpointSlices receives for these writes. */
export function watchBytes(groups: readonly MutationGroup[]): number {
  let bytes = 0;
  for (const { mutations } of groups)
    for (const mutation of mutations) {
      if (mutation.resource !== 'endpointslices') continue;
      // The event of a deletion carries the deleted object, which is mostly empty by then.
      bytes += mutation.verb === 'delete' ? bytesPerSlice : sliceBytes(mutation.object);
    }
  return bytes;
}
