import {
  type Configuration,
  configurationSources,
  configVariable,
  type Environment,
} from '@sluice/fleet/configuration';
import { UsageError } from '@sluice/platform/process';
import type { Command } from 'commander';

/**
 * The configuration of `sluice run` from file, environment and flags. Sluice's own variables are ignored without
 * `--config`, `SLUICE_CONFIG` and `--in-cluster`: on the machine of a user, they may be those of a fleet.
 *
 * @throws UsageError with all problems, and for the configuration of a fleet
 */
export async function runConfiguration(
  command: Command,
  environment: Environment,
  warn: (text: string) => void,
): Promise<Configuration> {
  const flags = command.opts<ClusterFlags>();
  checkClusterFlags(flags);
  const sources = configurationSources(command, environment, warn);
  const ownVariables = Boolean(flags.inCluster || (sources.file ?? environment[configVariable]));
  const others = Object.entries(environment).filter(([name]) => !name.startsWith('SLUICE_'));
  // Loaded on demand, as in the other commands.
  const { loadConfiguration } = await import('@sluice/fleet/configuration/load');
  const configuration = loadConfiguration(
    ownVariables ? sources : { ...sources, environment: Object.fromEntries(others) },
  );
  checkOneProcess(configuration);
  return configuration;
}

interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
  readonly namespaces?: string;
  readonly excludeNamespaces?: string;
}

function checkClusterFlags({ kubeconfig, context, inCluster, namespaces, excludeNamespaces }: ClusterFlags): void {
  for (const [name, value] of Object.entries({ kubeconfig, context })) {
    if (inCluster && value !== undefined) throw new UsageError(`--in-cluster and --${name} are mutually exclusive`);
  }
  if (namespaces !== undefined && excludeNamespaces !== undefined) {
    throw new UsageError('--namespaces and --exclude-namespaces are mutually exclusive');
  }
  if ((namespaces ?? excludeNamespaces) !== undefined && !inCluster && (kubeconfig ?? context) === undefined) {
    throw new UsageError('--namespaces and --exclude-namespaces require a cluster that Sluice writes to');
  }
}

/** A process with its own bus would write the same objects as the fleet. */
function checkOneProcess({ bus, store }: Configuration): void {
  const foreign = [bus.kind === 'memory' ? [] : 'a bus', store.kind === 'memory' ? [] : 'a store'].flat();
  if (foreign.length === 0) return;
  throw new UsageError(
    `"sluice run" uses an in-process bus and store, but the configuration sets ${foreign.join(' and ')}: ` +
      'run "sluice watcher", "sluice reconciler" and "sluice writer" instead, or remove the setting',
  );
}
