import type { Bus } from '@sluice/bus';
import { type Console, createConsole, History, tapBus } from '@sluice/console';
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
  { identity, name, version: kubernetes, server }: Pick<ConnectedCluster, 'identity' | 'name' | 'version' | 'server'>,
  jaeger: string | undefined,
  ports: { readonly clock: Clock; readonly logger: Logger },
): Promise<LocalConsole> {
  const history = new History(ports);
  const cluster = { identity, name, version: kubernetes, server, state: 'watched' };
  const sources = { clusters: () => [cluster] };
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
