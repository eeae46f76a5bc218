import type { Bus } from '@sluice/bus';
import type { ConnectedCluster } from '@sluice/clusters';
import { type ClusterView, type Console, consoleWhenAsked, History, tapBus } from '@sluice/console';
import { version } from '@sluice/process';
import type { Clock, Logger } from '@sluice/runtime';
import { tracesFrom } from '../console/jaeger-traces.ts';

export interface LocalConsole {
  readonly console: Console;
  /** To be set between the services and their bus. */
  readonly tap: (bus: Bus) => Bus;
}

export interface JaegerAddresses {
  /** Where a person looks at a trace; `{traceId}` stands for its id. */
  readonly jaegerUrl?: string | undefined;
  /** Where it is asked for one. */
  readonly jaegerQueryUrl?: string | undefined;
}

/** A console of its own holds more: here it shares the memory with what the process is for. */
export const guestBytes = 32 * 1024 ** 2;

/** The console of a process in which everything runs: it keeps what passes over the bus. */
export function startConsole(
  clusters: () => readonly ClusterView[],
  { jaegerUrl, jaegerQueryUrl }: JaegerAddresses,
  ports: { readonly clock: Clock; readonly logger: Logger },
): LocalConsole {
  const history = new History({ ...ports, maxBytes: guestBytes });
  const sources = { clusters, trace: tracesFrom(jaegerQueryUrl) };
  const console = consoleWhenAsked({
    history,
    sources,
    access: { hosts: [] },
    version,
    ...(jaegerUrl !== undefined && { jaeger: jaegerUrl }),
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
