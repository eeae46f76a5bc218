import type { OpenInfrastructure } from '@sluice/backends';
import { FleetSources } from '@sluice/console';
import { type Clock, errorMessage, type Logger } from '@sluice/runtime';
import type { BundleFile } from './support-bundle.ts';

/** Clusters, partitions, parked Services and dead letters of a fleet; dead letters without their content. */
export async function readFleet(
  fleet: Omit<OpenInfrastructure, 'generation' | 'document' | 'intended' | 'openLogs'>,
  ports: { readonly clock: Clock; readonly logger: Logger },
): Promise<readonly BundleFile[]> {
  const sources = new FleetSources(fleet, ports);
  const reads: Readonly<Record<string, () => Promise<unknown>>> = {
    clusters: async () => {
      await sources.readClusters();
      return sources.clusters();
    },
    partitions: sources.partitions,
    parked: sources.parked,
    'dead-letters': sources.deadLetters,
    'store-problems': async () => sources.storeProblems(),
  };
  const files: BundleFile[] = [];
  // In this order: dead letters name their clusters.
  for (const [name, read] of Object.entries(reads)) {
    const content = await read().catch((error: unknown) => ({ error: errorMessage(error) }));
    files.push({ path: `fleet/${name}.json`, text: `${JSON.stringify(content, undefined, 2)}\n` });
  }
  return files;
}
