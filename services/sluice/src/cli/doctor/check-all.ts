import { type ClusterSource, clusterSources } from '@sluice/fleet/clusters';
import type { Configuration } from '@sluice/fleet/configuration';
import { type Check, checkCluster, checkNetworks, type NamedCluster, warning } from '@sluice/kubernetes/preflight';
import { createLogger, showWait, systemClock, systemRandom, UsageError } from '@sluice/platform/process';
import { checkInfrastructure, historyCheck } from './check-infrastructure.ts';
import { checkSource, clustersToRead } from './check-source.ts';
import { clusterFlags } from './cluster-flags.ts';

/** All checks of `sluice doctor`. Shows what it waits for on a terminal. */
export async function checkAll(
  configuration: Configuration,
  { probe = false }: { readonly probe?: boolean } = {},
): Promise<readonly Check[]> {
  const ports = { clock: systemClock, random: systemRandom };
  const { enabled: controllers } = configuration.controllers;
  const logger = createLogger('text', 'error');
  const wait = <T>(what: string, work: Promise<T>) =>
    showWait(what, work, { clock: systemClock, output: process.stderr });
  const sources = clusterSources(clustersToRead(configuration), process.env, { ...ports, logger });
  const isNamed = configuration.clusters.length > 0 || configuration.clusterSecrets !== undefined;
  if (probe && !isNamed) await requireNamedCluster(sources);
  const infrastructure = await wait('checking bus and store', checkInfrastructure(configuration, ports, sources));
  const checks: Check[] = [...infrastructure, historyCheck(configuration)];
  const clusters: NamedCluster[] = [];
  for (const source of sources) {
    const work = checkSource<readonly Check[]>(source, {
      check: (name, access) => {
        clusters.push({ name, access });
        return checkCluster(name, access, { ...ports, logger }, { probe, controllers });
      },
      unusable: (_, check) => [check],
    });
    checks.push(...(await wait(`checking the clusters in ${source.about}`, work)).flat());
  }
  const compared = checkNetworks(clusters, { ...ports, logger });
  checks.push(...(await wait('comparing the addresses of the clusters', compared)));
  if (sources.length === 0) {
    const advice = 'pass --kubeconfig FILE, --context NAME or --in-cluster, or list clusters in --config FILE';
    checks.push(warning('clusters', 'configuration', 'no cluster configured', advice));
  }
  return checks;
}

/** The probe writes, and what writes needs a cluster that somebody has named (ADR 0016). @throws UsageError that names it */
async function requireNamedCluster([source]: readonly ClusterSource[]): Promise<never> {
  const read = await source?.read(AbortSignal.timeout(10_000));
  const [current] = read?.candidates ?? [];
  const flags = current === undefined ? '--context NAME' : clusterFlags({}, current.name);
  throw new UsageError(
    `--probe creates a Service and deletes it again, so a flag must name the cluster: sluice doctor --probe ${flags}`,
  );
}
