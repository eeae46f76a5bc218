import { KUBERNETES_VERSION } from '@sluice/local';
import type { Played } from '../golden/player.ts';

/** The release of CI, and a patch of each minor version before it that is still supported. */
export const releases: readonly string[] = ['v1.34.4', 'v1.35.4', 'v1.36.3', KUBERNETES_VERSION];

export const minorOf = (version: string): number => Number(version.split('.')[1]);

/**
 * Upstream sorts ports, and the subsets of Endpoints, by a hash: MD5 before Kubernetes 1.35, FNV since, as Sluice
 * (`deepHashObjectToString` in k8s.io/endpointslice/util, `hashObject` in k8s.io/kubernetes/pkg/api/v1/endpoints).
 */
export const hasOtherPortOrder = (version: string): boolean => minorOf(version) < 35;

/** Before 1.35 there is no queue of Pods, so a retry and a change fall due in another order. The states are equal. */
const otherEvents = new Set(['quirks/endpointslice/101-250']);

/** Whether the scenario differs from the controllers of the release in a known way. */
export function isExplainedIn(version: string, { name, differences }: Played): boolean {
  return minorOf(version) < 35 && otherEvents.has(name) && differences.every((line) => line.includes(' events: '));
}

/**
 * Whether kube-controller-manager of this version writes the slice of a headless Service without ports at each start, to remove its
 * trigger time. Before 1.36, absent and empty ports have different hashes.
 */
export const rewritesAbsentPorts = (version: string): boolean => minorOf(version) < 36;
