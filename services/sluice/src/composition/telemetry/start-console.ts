import {
  type AccessReviewer,
  type ClusterView,
  type Console,
  type ConsoleSources,
  History,
  jaegerTraces,
  lazyConsole,
} from '@sluice/console';
import type { ConnectedCluster } from '@sluice/fleet/clusters';
import type { ConsoleConfiguration } from '@sluice/fleet/configuration';
import type { Clock, Logger } from '@sluice/platform';
import { version } from '@sluice/platform/process';
import type { Recording } from '@sluice/recording';
import type { ProblemRule } from '@sluice/recording/problems';
import type { Outage } from '@sluice/store';

export interface LocalConsole {
  readonly console: Console;
  readonly history: History;
}

export interface ConsolePorts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: `historyBytes`, for a day. */
  readonly history?: { readonly maxBytes: number; readonly retentionMs: number };
  /** Default: the history is in memory only. */
  readonly recording?: Recording | undefined;
  /** Default: everybody who reaches the console sees everything. */
  readonly reviewer?: AccessReviewer | undefined;
  readonly problemRules?: readonly ProblemRule[];
  /** Default: those of Jaeger, if its URL is known. */
  readonly trace?: ConsoleSources['trace'];
}

interface ConsoleSettings
  extends Partial<Pick<ConsoleConfiguration, 'lostClusters' | 'degraded' | 'serviceNameLabel' | 'maxServices'>> {
  /** URL of a trace in Jaeger's UI; `{traceId}` is replaced. */
  readonly jaegerUrl?: string | undefined;
  /** URL of Jaeger's query API. */
  readonly jaegerQueryUrl?: string | undefined;
}

/** Limit of the history: lower than in a stand-alone console, because the process also runs the services. */
export const historyBytes = 8 * 1024 ** 2;

/** Share of the thread for the console, whose requests any user of the machine may send. The services have the rest. */
const threadShare = 0.25;

/** The console of a process that runs everything. Its history consists of the records that pass over the bus. */
export function startConsole(
  clusters: () => readonly ClusterView[],
  { jaegerUrl, jaegerQueryUrl, lostClusters, degraded, serviceNameLabel, maxServices }: ConsoleSettings,
  { history: limits, recording, problemRules, reviewer, trace, ...ports }: ConsolePorts,
): LocalConsole {
  const history = new History({ ...ports, maxBytes: historyBytes, ...limits, serviceNameLabel, maxServices });
  const sources = { clusters, trace: jaegerTraces(jaegerQueryUrl) ?? trace, recording, problemRules };
  const console = lazyConsole({
    history,
    sources,
    access: { hosts: [], reviewer },
    version,
    threadShare,
    ...(lostClusters && { lostClusters }),
    ...(degraded && { degraded }),
    ...(jaegerUrl !== undefined && { jaeger: jaegerUrl }),
    ...ports,
  });
  return { console, history };
}

interface ClusterConditions {
  readonly outage?: Outage | null;
  readonly competing?: string | undefined;
  /** Why writes are paused. */
  readonly paused?: string | undefined;
}

/** A cluster of this process, for the console. */
export function clusterView(
  { identity, name, version, server }: Pick<ConnectedCluster, 'identity' | 'name' | 'version' | 'server'>,
  state = 'watched',
  { outage, competing, paused }: ClusterConditions = {},
): ClusterView {
  const conditions = { ...(competing !== undefined && { competing }), ...(paused !== undefined && { paused }) };
  const view = { identity, name, version, server, ...conditions };
  if (!outage) return { ...view, state };
  return { ...view, state: outage.answers ? 'unusable' : 'not answering', outage };
}
