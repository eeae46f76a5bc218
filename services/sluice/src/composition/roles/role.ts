import { clusterSources, connectTo, EarlyConnections } from '@sluice/fleet/clusters';
import type { Configuration } from '@sluice/fleet/configuration';
import type { OwningRole } from '@sluice/fleet/roles';
import type { ClusterWork } from '@sluice/kubernetes/preflight';
import type { Clock, Logger, Random, ThreadShares } from '@sluice/platform';

/** A worker does the work of all others for the shares it holds. */
export type Role = OwningRole | 'worker';

export const partsOf = (role: Role): readonly OwningRole[] =>
  role === 'worker' ? ['watcher', 'reconciler', 'writer'] : [role];

/** What a role does with its clusters. */
export const workOf = (role: Role): readonly ClusterWork[] =>
  partsOf(role).flatMap((part) =>
    part === 'watcher' ? ['watch' as const] : part === 'writer' ? ['write' as const] : [],
  );

interface ClusterConnectionsOptions {
  readonly role: Role;
  readonly configuration: Pick<Configuration, 'clusters' | 'clusterSecrets' | 'controllers' | 'writer'>;
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
  const { enabled: controllers } = configuration.controllers;
  const work = workOf(role);
  return new EarlyConnections({
    sources: work.length === 0 ? [] : clusterSources(configuration, environment, ports),
    open: (access, signal, name) =>
      connectTo(access, { ...ports, work, takeOver, useServiceAccountCredentials, controllers, name, signal }),
    clock: ports.clock,
  });
}
