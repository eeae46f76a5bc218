import type { EndpointAddress, EndpointSubset, PodOnNode, Service } from '@sluice/model';
import { changedIndexes } from '../pods/changed-indexes.ts';
import { samePorts } from '../pods/find-port.ts';
import { type DesiredSubsets, desiredAddress, desiredSubsets, isOfferedAsReady } from './desired-subsets.ts';
import { equalAddresses } from './equal-subsets.ts';
import { compareAddresses } from './repack-subsets.ts';

interface CachedSubsets extends DesiredSubsets {
  readonly pods: readonly PodOnNode[];
}

/**
 * Cache of the last decision per Service object (ADR 0044). A Service object is replaced whenever it changes. The cache
 * only saves work: a decision with it equals a decision without it.
 */
const subsetCache = new WeakMap<Service, CachedSubsets>();
const canonical = new WeakSet<readonly EndpointSubset[]>();

/** Same as `desiredSubsets`, but incremental if only the readiness of some Pods has changed since the last call. */
export function cachedDesiredSubsets(service: Service, pods: readonly PodOnNode[]): readonly EndpointSubset[] {
  const before = subsetCache.get(service);
  const subsets = before && withReadiness(service, before, pods);
  const desired = subsets && before ? { subsets, byPod: before.byPod } : desiredSubsets(service, pods);
  subsetCache.set(service, { ...desired, pods });
  // With several subsets, `repackSubsets` would merge those without ports.
  if (desired.subsets.length < 2) canonical.add(desired.subsets);
  return desired.subsets;
}

/** Whether these subsets are known to be in the canonical form of `repackSubsets`. */
export function isCanonical(subsets: readonly EndpointSubset[]): boolean {
  return canonical.has(subsets);
}

/**
 * Returns undefined if more than the readiness of some Pods has changed, or if moving their addresses is not enough.
 */
function withReadiness(
  service: Service,
  { pods: before, subsets, byPod }: CachedSubsets,
  pods: readonly PodOnNode[],
): readonly EndpointSubset[] | undefined {
  const indexes = changedIndexes(before, pods);
  const [subset, ...others] = subsets;
  if (indexes === undefined || subset === undefined || others.length > 0) return undefined;
  let ready = subset.addresses ?? [];
  let notReady = subset.notReadyAddresses ?? [];
  // Some Pods share an address or have none of the ports.
  if (ready.length + notReady.length !== byPod.size) return undefined;
  for (const index of indexes) {
    const [was, is] = [before[index]?.pod, pods[index]?.pod];
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
