import { clusterSources, connectTo, EarlyConnections } from '@sluice/clusters';
import type { Configuration } from '@sluice/configuration';
import type { Clock, Logger, Random, ThreadShares } from '@sluice/runtime';
import { type Role, workOf } from './role.ts';

export interface ClusterConnectionsOptions {
  readonly role: Role;
  readonly configuration: Pick<Configuration, 'clusters' | 'clusterSecrets' | 'writer'>;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly random: Random;
  readonly threadShares?: ThreadShares | undefined;
  readonly logger: Logger;
}

/** How a role connects to its clusters; a reconciler has none. */
export function clusterConnections({
  role,
  configuration,
  environment,
  ...ports
}: ClusterConnectionsOptions): EarlyConnections {
  const { takeOver, useServiceAccountCredentials } = configuration.writer;
  const work = workOf(role);
  return new EarlyConnections({
    sources: work.length === 0 ? [] : clusterSources(configuration, environment, ports),
    open: (access, signal, name) =>
      connectTo(access, { ...ports, work, takeOver, useServiceAccountCredentials, name, signal }),
    clock: ports.clock,
  });
}
