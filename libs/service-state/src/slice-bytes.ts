import type { Endpoint, EndpointSlice, MutationGroup } from '@sluice/controllers';

/** Metadata of a slice with one owner and one entry of managedFields. */
const bytesPerSlice = 900;
/** Conditions, kinds and tags of an endpoint of a Pod, with its uid. */
const bytesPerEndpoint = 85;

/** Endpoints of a slice that are measured, evenly spread: endpoints of one Service have similar names and addresses. */
const measuredEndpoints = 8;

/**
 * About how many bytes a watcher receives for this slice in protobuf. An estimate from the parts that vary: encoding the slice
 * would cost more than deciding about it.
 */
export function sliceBytes({ metadata, endpoints }: EndpointSlice): number {
  const count = endpoints?.length ?? 0;
  const step = Math.ceil(count / measuredEndpoints);
  let [bytes, measured] = [0, 0];
  for (let i = 0; i < count; i += step) {
    bytes += endpointBytes(endpoints?.[i]);
    measured += 1;
  }
  const perEndpoint = measured === 0 ? 0 : bytes / measured;
  return bytesPerSlice + 6 * metadata.name.length + Math.round(count * perEndpoint);
}

function endpointBytes(endpoint: Endpoint | undefined): number {
  if (endpoint === undefined) return 0;
  const { addresses, nodeName = '', zone = '', hostname = '', targetRef } = endpoint;
  let bytes = bytesPerEndpoint + nodeName.length + zone.length + hostname.length;
  bytes += (targetRef?.name?.length ?? 0) + (targetRef?.namespace?.length ?? 0);
  for (const address of addresses) bytes += address.length;
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
