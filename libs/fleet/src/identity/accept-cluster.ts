import { type Clock, errorMessage, type Logger, type Random } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import { evidenceOf } from '../clusters/cluster-connector.ts';
import type { ClusterSource } from '../clusters/cluster-source.ts';
import { open } from '../clusters/connect.ts';
import type { StoredIdentities } from './identity-registry.ts';
import type { ClusterEvidence } from './pinned-clusters.ts';

const timeoutMs = 35_000;

/**
 * Connects to the cluster with this name and pins the name to what answers, as an operator decided.
 *
 * @throws UsageError if the cluster is not configured or cannot be reached
 */
export async function acceptCluster(
  name: string,
  sources: readonly ClusterSource[],
  identities: StoredIdentities,
  ports: { readonly clock: Clock; readonly random: Random; readonly logger: Logger },
): Promise<ClusterEvidence> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const readings = await Promise.all(sources.map((source) => source.read(signal)));
    const candidate = readings.flatMap(({ candidates }) => candidates).find((one) => one.name === name);
    if (candidate === undefined) throw new UsageError(`cluster ${name} not found; run "sluice clusters list"`);
    const cluster = await open(await candidate.load(), { ...ports, signal });
    await cluster.close();
    const evidence = evidenceOf(cluster);
    await identities.accept(name, evidence);
    return evidence;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot accept cluster ${name}: ${errorMessage(error)}`, { cause: error });
  }
}
