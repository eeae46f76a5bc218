import type { ClusterSource } from '@sluice/fleet/clusters';
import type { Configuration } from '@sluice/fleet/configuration';
import { type ClusterAccess, hasDefaultCluster, isApiError, isKubeconfigError } from '@sluice/kubernetes';
import { type Check, failed } from '@sluice/kubernetes/preflight';
import { errorMessage } from '@sluice/platform';

/** Time limit for a source to respond, in milliseconds. */
const timeoutMs = 35_000;

interface SourceChecks<T> {
  readonly check: (name: string, access: ClusterAccess) => Promise<T>;
  /** The result for a source, or a cluster, that cannot be checked. */
  readonly unusable: (name: string, check: Check) => T;
}

/** Checks each cluster that the source lists. What cannot be read is a failed check and does not stop the others. */
export async function checkSource<T>(
  source: ClusterSource,
  { check, unusable }: SourceChecks<T>,
): Promise<readonly T[]> {
  const invalid = (name: string, reason: string) =>
    unusable(name, failed(`cluster ${name}`, 'kubeconfig', reason, 'correct the kubeconfig'));
  try {
    const { candidates, problems } = await source.read(AbortSignal.timeout(timeoutMs));
    const results = problems.map(({ name, reason }) => invalid(name, reason));
    for (const { name, load } of candidates) {
      try {
        results.push(await check(name, await load()));
      } catch (error) {
        if (isKubeconfigError(error)) results.push(invalid(name, error.message));
        else if (isApiError(error))
          results.push(unusable(name, failed(`cluster ${name}`, 'requests', error.message, 'try again')));
        else throw error;
      }
    }
    return results;
  } catch (error) {
    const advice = 'correct the source as the message says';
    return [unusable(source.about, failed('clusters', source.about, errorMessage(error), advice))];
  }
}

/** The clusters to read: without any configuration, the one that kubectl uses. Not for commands that write (ADR 0016). */
export function clustersToRead({ clusters, clusterSecrets, bus, store }: Configuration) {
  const isFleet = bus.kind !== 'memory' || store.kind !== 'memory';
  const useDefault = clusters.length === 0 && clusterSecrets === undefined && !isFleet;
  return { clusters: useDefault && hasDefaultCluster(process.env) ? [{}] : clusters, clusterSecrets };
}
