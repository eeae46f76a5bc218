import type { Bus } from '@sluice/bus';
import { type ClusterView, type Console, createConsole, History, tapBus } from '@sluice/console';
import type { Clock, Logger } from '@sluice/runtime';
import type { ConnectedCluster } from '../connect.ts';
import { version } from '../version.ts';

export interface LocalConsole {
  readonly console: Console;
  /** To be set between the services and their bus. */
  readonly tap: (bus: Bus) => Bus;
}

/** The console of a process in which everything runs: it keeps what passes over the bus. */
export async function startConsole(
  clusters: () => readonly ClusterView[],
  jaeger: string | undefined,
  ports: { readonly clock: Clock; readonly logger: Logger },
): Promise<LocalConsole> {
  const history = new History(ports);
  const sources = { clusters };
  const console = await createConsole({
    history,
    sources,
    access: { hosts: [] },
    version,
    ...(jaeger !== undefined && { jaeger }),
    ...ports,
  });
  return { console, tap: (bus) => tapBus(bus, history) };
}

/** A cluster of this process as the console shows it. */
export function clusterView(
  { identity, name, version, server }: Pick<ConnectedCluster, 'identity' | 'name' | 'version' | 'server'>,
  state = 'watched',
): ClusterView {
  return { identity, name, version, server, state };
}
