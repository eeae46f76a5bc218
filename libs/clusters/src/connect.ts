import { eventComponent } from '@sluice/controllers';
import {
  type ClusterAccess,
  type ClusterReader,
  Connection,
  chainReader,
  EarlyWatches,
  EventRecorder,
  HttpCluster,
  isApiError,
  isKubeconfigError,
  loadInCluster,
  loadKubeconfig,
} from '@sluice/kubernetes';
import {
  assessCompetingController,
  ClusterUnavailableError,
  type ClusterWork,
  type CompetingControllerEvidence,
  checkConnection,
  checkReading,
  clusterProbe,
  findCompetingControllerEvidence,
  switchOffAdvice,
} from '@sluice/preflight';
import { fieldManager, UsageError, userAgent } from '@sluice/process';
import type { Clock, Logger, Random } from '@sluice/runtime';
import type { Cluster } from './cluster.ts';

export interface ConnectOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
  /** What the permissions must allow. Default: all that Sluice does. */
  readonly work?: readonly ClusterWork[];
  /** Whether to write though another controller seems to write the same. */
  readonly takeOver?: boolean;
  /** Begins to read before it is known whether all is as it should be: reading does no harm, and a start is quicker. */
  readonly readEarly?: boolean;
  /** Gives it up. Default: it takes as long as it takes, half a minute for each step at most. */
  readonly signal?: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

type AccessOptions = Omit<ConnectOptions, 'kubeconfig' | 'context' | 'inCluster'>;

export interface ConnectedCluster extends Cluster {
  readonly server: string;
  readonly connection: Connection;
  readonly version: string;
  /** Breaks off what is still under way. */
  close(): Promise<void>;
}

/** For each step of a start, in milliseconds. */
const connectTimeoutMs = 30_000;

const within = (signal: AbortSignal | undefined): AbortSignal => {
  const late = AbortSignal.timeout(connectTimeoutMs);
  return signal === undefined ? late : AbortSignal.any([late, signal]);
};

/**
 * Opens the cluster that the flags name and asks it for all that a start needs. What stands in the way (a kubeconfig
 * that cannot be used, a server that is down, a missing permission) becomes a UsageError.
 */
export async function connect(options: ConnectOptions, environment: NodeJS.ProcessEnv): Promise<ConnectedCluster> {
  try {
    return await connectTo(await findAccess(options, environment), options);
  } catch (error) {
    if (isKubeconfigError(error)) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

/** Evidence of a competing controller; undefined if none is needed. Sends only reads. */
function findCompetingController(
  connection: Connection,
  { work, takeOver, signal, clock }: AccessOptions,
): Promise<CompetingControllerEvidence> | undefined {
  if (takeOver || work?.includes('write') === false) return undefined;
  return findCompetingControllerEvidence({ connection, ownManager: fieldManager, now: clock.now() }, within(signal));
}

/** Two controllers that write the same objects would revert each other indefinitely. */
async function rejectCompetingController(
  cluster: ConnectedCluster,
  evidence: Promise<CompetingControllerEvidence>,
  logger: Logger,
): Promise<void> {
  try {
    const { status, why } = assessCompetingController(await evidence);
    if (status === 'unknown') logger.warn('another controller may write to this cluster; run "sluice doctor"', { why });
    if (status !== 'active') return;
    throw new ClusterUnavailableError(
      'competingController',
      `another controller writes the Endpoints and EndpointSlices of cluster ${cluster.name}: ${why}; ${switchOffAdvice}, or pass --take-over if it is already off`,
    );
  } catch (error) {
    // No evidence is no proof: a rival would be noticed by what it does.
    if (isApiError(error)) return logger.warn('cannot check for competing controllers', { reason: error.message });
    await cluster.close();
    throw error;
  }
}

/** How the cluster that is named is reached. */
export function findAccess(
  options: Pick<ConnectOptions, 'kubeconfig' | 'context' | 'inCluster'>,
  environment: NodeJS.ProcessEnv,
): Promise<ClusterAccess> {
  if (options.inCluster) {
    return loadInCluster({
      host: environment.KUBERNETES_SERVICE_HOST ?? '',
      port: environment.KUBERNETES_SERVICE_PORT ?? '',
    });
  }
  return loadKubeconfig({ paths: [options.kubeconfig ?? ''], context: options.context });
}

/** As `connect`, once it is known how to reach the cluster. */
export async function connectTo(access: ClusterAccess, options: AccessOptions): Promise<ConnectedCluster> {
  try {
    const connection = connectionTo(access, options);
    // While it is found out whether the cluster can be used at all: neither waits for the other.
    const evidence = findCompetingController(connection, options);
    evidence?.catch(() => {});
    const cluster = await openOn(connection, access, options);
    if (evidence !== undefined) await rejectCompetingController(cluster, evidence, options.logger);
    return cluster;
  } catch (error) {
    if (error instanceof ClusterUnavailableError || isKubeconfigError(error))
      throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

/** A cluster that cannot be written: its connection sends GET and nothing else. */
export interface ReadingCluster extends Pick<ConnectedCluster, 'name' | 'identity' | 'server' | 'version' | 'close'> {
  /** Minor version of Kubernetes. */
  readonly minor: number;
  readonly reader: ClusterReader;
  readonly connection: Connection;
}

/** As `connect`, to read only. */
export async function connectReading(options: ConnectOptions, environment: NodeJS.ProcessEnv): Promise<ReadingCluster> {
  try {
    return await openReading(await findAccess(options, environment), options);
  } catch (error) {
    if (error instanceof ClusterUnavailableError || isKubeconfigError(error))
      throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

async function openReading(access: ClusterAccess, { clock, random, logger }: ConnectOptions): Promise<ReadingCluster> {
  const connection = new Connection({ access, userAgent: userAgent('shadow'), clock, logger, readOnly: true });
  const http = new HttpCluster({ connection, clock, random });
  try {
    const { identity, version } = await checkReading(clusterProbe(http), {
      cluster: access.context,
      signal: within(undefined),
    });
    return {
      ...{ name: access.context, identity, server: connection.server, version: version.gitVersion },
      ...{ minor: version.minor, reader: http, connection },
      close: () => connection.destroy(),
    };
  } catch (error) {
    await connection.destroy();
    throw error;
  }
}

/** By the work that is meant, the role that does it; undefined: all of them. */
function roleOf(work: readonly ClusterWork[] | undefined): string | undefined {
  if (work?.length !== 1) return undefined;
  return work[0] === 'watch' ? 'watcher' : 'writer';
}

/** Opens a cluster over HTTP, once it is known how to reach it, whoever else writes there. */
export function open(access: ClusterAccess, options: AccessOptions): Promise<ConnectedCluster> {
  return openOn(connectionTo(access, options), access, options);
}

function connectionTo(access: ClusterAccess, { work, clock, logger }: AccessOptions): Connection {
  return new Connection({ access, userAgent: userAgent(roleOf(work)), clock, logger });
}

async function openOn(
  connection: Connection,
  access: ClusterAccess,
  options: AccessOptions,
): Promise<ConnectedCluster> {
  const { clock, random, logger } = options;
  const http = new HttpCluster({ connection, clock, random });
  const recorder = new EventRecorder({ store: http, clock, random, logger: logger.with({ cluster: access.context }) });
  const closed = new AbortController();
  const middleware = options.readEarly ? [new EarlyWatches(http, closed.signal).middleware] : [];
  const close = () => {
    closed.abort();
    return connection.destroy();
  };
  try {
    const { identity, version } = await checkConnection(clusterProbe(http), {
      cluster: access.context,
      ...(options.work !== undefined && { work: options.work }),
      signal: within(options.signal),
    });
    return {
      name: access.context,
      identity,
      server: connection.server,
      connection,
      version: version.gitVersion,
      reader: chainReader(http, ...middleware),
      writer: http,
      record(events) {
        for (const event of events) recorder.record(event, eventComponent(event));
      },
      async close() {
        await recorder.stop();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
