import {
  allControllers,
  controllers,
  descriptorOf,
  eventComponent,
  eventController,
  resourcesOf,
} from '@sluice/controllers';
import {
  type ApiClient,
  type ClusterAccess,
  type ClusterReader,
  type ClusterWriter,
  Connection,
  chainReader,
  EarlyWatches,
  EventRecorder,
  HttpCluster,
  isApiError,
  isKubeconfigError,
  loadDefault,
  loadInCluster,
  loadKubeconfig,
  type NamespaceScope,
  scopeReader,
  scopeWriter,
  serviceAccountAccess,
  withUserAgent,
} from '@sluice/kubernetes';
import {
  assessCompetingController,
  ClusterUnavailableError,
  type ClusterWork,
  type CompetingControllerEvidence,
  checkConnection,
  checkController,
  checkReading,
  clusterProbe,
  findCompetingControllerEvidence,
  grantToCluster,
  switchOffAdvice,
} from '@sluice/kubernetes/preflight';
import type { Controller } from '@sluice/model';
import type { Random, ThreadShares } from '@sluice/platform';
import { fieldManager, UsageError, userAgent } from '@sluice/platform/process';
import type { LeaderElectionConfiguration } from '../configuration/index.ts';
import { fenceWrites } from '../leader-election/fence-writes.ts';
import { type GuardOptions, guardWrites } from '../leader-election/guard-writes.ts';
import { LeaderElector } from '../leader-election/leader-elector.ts';
import type { ConnectedCluster } from './cluster.ts';
import { openNamespaces } from './open-namespaces.ts';

interface ConnectOptions extends Omit<GuardOptions, 'elector'> {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
  /** For people. Default: the context. */
  readonly name?: string | undefined;
  /** Default: all. */
  readonly namespaces?: NamespaceScope | undefined;
  /** Writes and records Events of each controller with the credentials of its own ServiceAccount in kube-system (A1). */
  readonly useServiceAccountCredentials?: boolean;
  /** Default: this process does not take part in a leader election. */
  readonly leaderElection?: (LeaderElectionConfiguration & { readonly identity: string }) | undefined;
  /** The controllers that run. Default: all. */
  readonly controllers?: ReadonlySet<Controller> | undefined;
  /** Divides the thread among the clusters of the process. Default: each may use all of it. */
  readonly threadShares?: ThreadShares | undefined;
  /** Cancels connecting. Each step also times out after 30 seconds. */
  readonly signal?: AbortSignal;
  readonly random: Random;
}

interface AccessOptions
  extends Omit<ConnectOptions, 'kubeconfig' | 'context' | 'inCluster' | 'namespaces' | 'fleet' | 'leaderElection'> {
  /** Wraps the clients that write. */
  readonly fence?: ((client: ApiClient) => ApiClient) | undefined;
  /** Starts reading while the checks run, for a faster start. */
  readonly readEarly?: boolean;
  /** Sends only GET requests, and if `namespaces` of the access lists some, only in these. Default: false. */
  readonly readOnly?: boolean;
}

/** Timeout of each step of connecting, in milliseconds. */
const stepTimeoutMs = 30_000;

const grantToObserver = `${grantToCluster}, or observe only namespaces that you may read: --namespace NAME`;

const withTimeout = (signal: AbortSignal | undefined): AbortSignal => {
  const timeout = AbortSignal.timeout(stepTimeoutMs);
  return signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
};

/**
 * Connects to the cluster that the options name, runs the preflight checks and guards its writes.
 *
 * @throws UsageError why the cluster cannot be used, and what to do
 */
export async function connect(options: ConnectOptions, environment: NodeJS.ProcessEnv): Promise<ConnectedCluster> {
  const { namespaces, leaderElection } = options;
  return asUsageError(async () => {
    const access = { ...(await findAccess(options, environment)), namespaces };
    const elector = leaderElection && electorOn(access, { ...options, ...leaderElection });
    const fence = elector && ((client: ApiClient) => fenceWrites(client, elector, leaderElection));
    // Instead of the check while connecting, guardWrites waits until no competing controller writes.
    const takeOver = options.takeOver || elector !== undefined;
    const cluster = await connectTo(access, { ...options, takeOver, fence, readEarly: true });
    try {
      return await guardWrites(cluster, { ...options, elector }, withTimeout(options.signal));
    } catch (error) {
      await Promise.all([cluster.close(), elector?.close()]);
      throw error;
    }
  });
}

function electorOn(
  access: ClusterAccess,
  options: ConnectOptions & LeaderElectionConfiguration & { readonly identity: string },
): LeaderElector {
  const { name = access.context, clock, logger } = options;
  const connection = new Connection({ access, userAgent: userAgent('leader-election'), clock, logger });
  return new LeaderElector({ ...options, cluster: name, connection });
}

/** Undefined if the work includes no writes or the check is disabled. Sends only reads. */
function findCompetingController(
  connection: Connection,
  { work, takeOver, controllers, signal, clock }: AccessOptions,
): Promise<CompetingControllerEvidence> | undefined {
  if (takeOver || work?.includes('write') === false) return undefined;
  return findCompetingControllerEvidence(
    { connection, ownManager: fieldManager, now: clock.now(), controllers },
    withTimeout(signal),
  );
}

/** Two controllers that write the same objects would revert each other's writes indefinitely. */
async function rejectCompetingController(
  cluster: ConnectedCluster,
  evidence: Promise<CompetingControllerEvidence>,
): Promise<void> {
  try {
    const found = await evidence;
    const { status, why } = assessCompetingController(found);
    if (status === 'inactive') return;
    const what = status === 'active' ? 'another controller writes' : 'another controller may write';
    const settle = status === 'active' ? '' : '; run "sluice doctor --probe" to find out';
    throw new ClusterUnavailableError(
      'competingController',
      `${what} the Endpoints and EndpointSlices of cluster ${cluster.name}: ${why}${settle}; ${switchOffAdvice(found)}, or pass --take-over if these controllers are already off`,
    );
  } catch (error) {
    await cluster.close();
    if (!isApiError(error)) throw error;
    throw new ClusterUnavailableError(
      'competingController',
      `cannot check cluster ${cluster.name} for competing controllers: ${error.message}; try again, or pass --take-over if there are none`,
    );
  }
}

/** Loads the credentials of the cluster that the options name. */
function findAccess(
  options: Pick<ConnectOptions, 'kubeconfig' | 'context' | 'inCluster'>,
  environment: NodeJS.ProcessEnv,
): Promise<ClusterAccess> {
  if (options.inCluster) return inCluster(environment);
  if (options.kubeconfig === undefined) return loadDefault(options.context, environment);
  return loadKubeconfig({ paths: [options.kubeconfig], context: options.context });
}

/** The cluster of this Pod. */
export function inCluster(environment: NodeJS.ProcessEnv): Promise<ClusterAccess> {
  return loadInCluster({
    host: environment.KUBERNETES_SERVICE_HOST ?? '',
    port: environment.KUBERNETES_SERVICE_PORT ?? '',
  });
}

/** Connects to a cluster and runs the preflight checks; its writes are not guarded yet. */
export async function connectTo(access: ClusterAccess, options: AccessOptions): Promise<ConnectedCluster> {
  return asUsageError(async () => {
    const connection = connectionTo(access, options);
    // The competing-controller check and the other checks run in parallel.
    const evidence = findCompetingController(connection, options);
    evidence?.catch(() => {});
    const cluster = await openOn(connection, access, options);
    if (evidence !== undefined) await rejectCompetingController(cluster, evidence);
    return cluster;
  });
}

/** Turns errors that the user can fix into a UsageError. */
async function asUsageError<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ClusterUnavailableError || isKubeconfigError(error))
      throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

/** A connected cluster that cannot be written: its connection sends only GET. */
export interface ReadingCluster extends Pick<ConnectedCluster, 'name' | 'identity' | 'server' | 'version' | 'close'> {
  /** Minor version of Kubernetes. */
  readonly minor: number;
  readonly access: ClusterAccess;
  readonly reader: ClusterReader;
  readonly connection: Connection;
}

/** Like `connect`, for reading only. */
export async function connectReading(options: ConnectOptions, environment: NodeJS.ProcessEnv): Promise<ReadingCluster> {
  return asUsageError(async () => openReading(await findAccess(options, environment), options));
}

/** The same with an access that is known. */
export function connectReadingTo(access: ClusterAccess, options: AccessOptions): Promise<ReadingCluster> {
  return asUsageError(() => openReading(access, options));
}

async function openReading(access: ClusterAccess, options: AccessOptions): Promise<ReadingCluster> {
  const { clock, random, logger, controllers: enabled = allControllers, name = access.context } = options;
  const connection = new Connection({ access, userAgent: userAgent('shadow'), clock, logger, readOnly: true });
  const http = new HttpCluster({ connection, clock, random });
  try {
    const { identity, version } = await checkReading(clusterProbe(http), {
      cluster: name,
      controllers: enabled,
      signal: withTimeout(undefined),
    });
    return {
      name,
      identity,
      server: connection.server,
      access,
      version: version.gitVersion,
      minor: version.minor,
      reader: { ...chainReader(http), resources: resourcesOf(enabled) },
      connection,
      close: () => connection.destroy(),
    };
  } catch (error) {
    await connection.destroy();
    throw error;
  }
}

/** The role that does this work, for the user agent; undefined for a process that is no role of a fleet. */
function roleOf(work: readonly ClusterWork[] | undefined): string | undefined {
  if (work === undefined) return undefined;
  if (work.length > 1) return 'worker';
  return work[0] === 'watch' ? 'watcher' : 'writer';
}

/** Connects without the check for competing controllers. */
export function open(access: ClusterAccess, options: AccessOptions): Promise<ConnectedCluster> {
  return openOn(connectionTo(access, options), access, options);
}

function connectionTo(access: ClusterAccess, options: AccessOptions): Connection {
  const { work, clock, logger, threadShares, name = access.context, readOnly = false } = options;
  const threadShare = threadShares?.of(name);
  const agent = userAgent(readOnly ? 'observer' : roleOf(work));
  return new Connection({ access, userAgent: agent, clock, logger, threadShare, readOnly });
}

async function openOn(
  connection: Connection,
  access: ClusterAccess,
  options: AccessOptions,
): Promise<ConnectedCluster> {
  const { clock, random, logger, name = access.context } = options;
  const clients = controllerClients(connection, access, options);
  const { fence = (client: ApiClient) => client } = options;
  const http = new HttpCluster({
    connection: fence(connection),
    clock,
    random,
    controllerConnection: (controller) => fence(clients.of(controller)),
  });
  const ports = { clock, random, logger: logger.with({ cluster: name }) };
  const { controllers: enabled = allControllers } = options;
  const watching: ClusterReader = chainReader(http);
  const whole = { ...watching, resources: resourcesOf(enabled) };
  const recorders = new Map(
    controllers.map((controller) => [
      controller,
      new EventRecorder({ store: http.forController(controller), ...ports }),
    ]),
  );
  const closed = new AbortController();
  const middleware = options.readEarly
    ? [new EarlyWatches(whole, { signal: closed.signal, clock: options.clock }).middleware]
    : [];
  const close = async () => {
    closed.abort();
    options.threadShares?.forget(name);
    await Promise.all([clients.close(), connection.destroy()]);
  };
  try {
    const checked = { cluster: name, controllers: enabled, signal: withTimeout(options.signal) };
    const { work } = options;
    const namespaces = options.readOnly ? access.namespaces?.only : undefined;
    const opened = namespaces && (await openNamespaces(namespaces, { ...checked, ...ports, connection }));
    const { identity, version } =
      opened ??
      (await (options.readOnly
        ? checkReading(clusterProbe(http), { ...checked, grant: grantToObserver })
        : checkConnection(clusterProbe(http), { ...checked, ...(work !== undefined && { work }) })));
    if (options.useServiceAccountCredentials && options.work?.includes('write') !== false) {
      const checks = [...enabled].map((controller) =>
        checkController(clusterProbe(http.forController(controller)), {
          cluster: name,
          written: descriptorOf(controller).writes,
          signal: withTimeout(options.signal),
        }),
      );
      await Promise.all(checks);
    }
    const [reader = chainReader(whole, ...middleware)] = opened?.readers.values() ?? [];
    return {
      name,
      identity,
      controllers: enabled,
      server: connection.server,
      connection,
      access,
      version: version.gitVersion,
      namespaces: access.namespaces,
      authorities: await connection.authorities(),
      ...scoped({ reader, writer: http }, access.namespaces),
      readers: opened?.readers,
      record(events) {
        for (const event of events) recorders.get(eventController(event))?.record(event, eventComponent(event));
      },
      async close() {
        await Promise.all([...recorders.values()].map((recorder) => recorder.stop()));
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface ControllerClients {
  readonly of: (controller: Controller) => ApiClient;
  close(): Promise<void>;
}

/**
 * The client of each controller, named as in kube-controller-manager. Without credentials of their own they share the given
 * connection.
 */
function controllerClients(
  connection: Connection,
  access: ClusterAccess,
  { useServiceAccountCredentials, clock, logger }: AccessOptions,
): ControllerClients {
  const named = (controller: Controller) => userAgent(descriptorOf(controller).client);
  if (!useServiceAccountCredentials) {
    return { of: (controller) => withUserAgent(connection, named(controller)), close: async () => {} };
  }
  const opened: Connection[] = [];
  return {
    of(controller) {
      const account = {
        access,
        client: connection,
        namespace: 'kube-system',
        name: descriptorOf(controller).client,
        clock,
      };
      const own = serviceAccountAccess(account);
      const client = new Connection({ access: own, userAgent: named(controller), clock, logger });
      opened.push(client);
      return client;
    },
    async close() {
      await Promise.all(opened.map((client) => client.destroy()));
    },
  };
}

function scoped(
  { reader, writer }: { readonly reader: ClusterReader; readonly writer: ClusterWriter },
  namespaces: NamespaceScope | undefined,
) {
  if (namespaces === undefined) return { reader, writer };
  return { reader: scopeReader(reader, namespaces), writer: scopeWriter(writer, namespaces) };
}
