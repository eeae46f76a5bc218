import { UsageError } from '@sluice/process';
import { errorMessage } from '@sluice/runtime';
import type { ClusterSource } from './cluster-source.ts';

const timeoutMs = 35_000;

/**
 * The names in these sources, also those of clusters that cannot be used.
 *
 * @throws UsageError which source cannot be read: it may list the cluster
 */
export async function configuredNames(sources: readonly ClusterSource[]): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const source of sources) {
    try {
      const { candidates, problems } = await source.read(AbortSignal.timeout(timeoutMs));
      for (const { name } of [...candidates, ...problems]) names.add(name);
    } catch (error) {
      throw new UsageError(`cannot read ${source.about}: ${errorMessage(error)}`, { cause: error });
    }
  }
  return names;
}
