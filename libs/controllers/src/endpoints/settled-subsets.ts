import type { EndpointAddress, EndpointSubset } from '../objects/endpoints.ts';
import type { PodOnNode } from '../objects/pod.ts';
import type { Service } from '../objects/service.ts';
import { changedPlaces } from '../pods/changed-places.ts';
import { samePorts } from '../pods/find-port.ts';
import { type DesiredSubsets, desiredAddress, desiredSubsets, isOfferedAsReady } from './desired-subsets.ts';
import { equalAddresses } from './equal-subsets.ts';
import { compareAddresses } from './repack-subsets.ts';

interface Settled extends DesiredSubsets {
  readonly pods: readonly PodOnNode[];
}

/**
 * By Service, an object that is replaced when anything of it changes. A memory of what follows from inputs, never an input:
 * what is decided with it is what would be decided without.
 */
const settled = new WeakMap<Service, Settled>();
const canonical = new WeakSet<readonly EndpointSubset[]>();

/** What `desiredSubsets` says, which is quickly said where only the readiness of some Pods differs from the last time. */
export function settledSubsets(service: Service, pods: readonly PodOnNode[]): readonly EndpointSubset[] {
  const before = settled.get(service);
  const subsets = before && withReadiness(service, before, pods);
  const desired = subsets && before ? { subsets, byPod: before.byPod } : desiredSubsets(service, pods);
  settled.set(service, { ...desired, pods });
  // Of several subsets those without ports would be merged.
  if (desired.subsets.length < 2) canonical.add(desired.subsets);
  return desired.subsets;
}

/** Whether these subsets are known to be in the form that `repackSubsets` gives them. */
export function isCanonical(subsets: readonly EndpointSubset[]): boolean {
  return canonical.has(subsets);
}

/** Undefined if more than the readiness of some Pods has changed, or it is not enough to move their addresses. */
function withReadiness(
  service: Service,
  { pods: before, subsets, byPod }: Settled,
  pods: readonly PodOnNode[],
): readonly EndpointSubset[] | undefined {
  const places = changedPlaces(before, pods);
  const [subset, ...others] = subsets;
  if (places === undefined || subset === undefined || others.length > 0) return undefined;
  let ready = subset.addresses ?? [];
  let notReady = subset.notReadyAddresses ?? [];
  // Pods that share an address, or have none of the ports.
  if (ready.length + notReady.length !== byPod.size) return undefined;
  for (const place of places) {
    const [was, is] = [before[place]?.pod, pods[place]?.pod];
    const known = is && byPod.get(is.name);
    const address = is && desiredAddress(service, is);
    if (!was || !known || !address) return undefined;
    if (!equalAddresses(known, address) || !samePorts(service, was, is)) return undefined;
    const isReady = isOfferedAsReady(service, is);
    if (isOfferedAsReady(service, was) === isReady) continue;
    const [from, to] = isReady ? [notReady, ready] : [ready, notReady];
    const at = from.indexOf(known);
    if (at < 0) return undefined;
    const [rest, more] = [from.toSpliced(at, 1), withAddress(to, known)];
    [ready, notReady] = isReady ? [more, rest] : [rest, more];
  }
  const { ports } = subset;
  return [
    {
      ...(ready.length > 0 && { addresses: ready }),
      ...(notReady.length > 0 && { notReadyAddresses: notReady }),
      ...(ports && { ports }),
    },
  ];
}

function withAddress(sorted: readonly EndpointAddress[], address: EndpointAddress): readonly EndpointAddress[] {
  const after = sorted.findIndex((one) => compareAddresses(address, one) < 0);
  return sorted.toSpliced(after < 0 ? sorted.length : after, 0, address);
}
