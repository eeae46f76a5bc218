import { createSecureContext } from 'node:tls';
import {
  BusFollower,
  type ClusterView,
  createConsole,
  FleetSources,
  History,
  jaegerTraces,
  readLogs,
} from '@sluice/console';
import { StoredIdentities } from '@sluice/fleet/clusters';
import type { Configuration } from '@sluice/fleet/configuration';
import { type OpenInfrastructure, storeProblemCounts } from '@sluice/fleet/roles';
import { type Clock, errorMessage, type Random } from '@sluice/platform';
import { isLoopback, type RootLogger, UsageError, version } from '@sluice/platform/process';
import type { Recorder } from '@sluice/recording';
import { type Check, condition, type Health, Metrics, SharedRequest, startTelemetry } from '@sluice/telemetry';
import { AccessReviews } from '../access-reviews.ts';
import { ProblemReporter } from '../problem-reporter.ts';
import { configuredProblemRules } from '../problem-rules-file.ts';
import { configuredWebhook } from '../problem-webhook.ts';
import { backgroundIndex, reportLogicalServices } from '../telemetry/report-logical-services.ts';
import { rereadConsole } from './reread-console.ts';
import type { ReviewingClusters } from './reviewing-clusters.ts';

export interface ConsoleRoleOptions {
  readonly infrastructure: Omit<OpenInfrastructure, 'document' | 'intended' | 'openLogs' | 'generation'> &
    Partial<Pick<OpenInfrastructure, 'openLogs' | 'generation'>>;
  readonly configuration: Pick<Configuration, 'console' | 'metricsBindAddress'> &
    Partial<Pick<Configuration, 'recording'>>;
  /** The clusters that review the access of readers. Default: none do. */
  readonly reviewing?: Pick<ReviewingClusters, 'accesses' | 'run'> | undefined;
  /** Paused until the history is loaded. Default: the history is in memory only. */
  readonly recorder?: Recorder | undefined;
  /** Loads the configuration again, for secrets that were replaced. Default: they stay. */
  readonly reread?: () => Pick<Configuration, 'console'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: RootLogger;
}

export interface RunningConsole {
  /** URL of the page and the API. */
  readonly url: string;
  /** Rejects on a fatal error; resolves after `stop`. */
  readonly done: Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * Reads the bus and store of a fleet, serves the console, and records what it reads. The caller closes the infrastructure and the
 * recorder.
 *
 * @throws UsageError if it cannot listen on the configured addresses
 */
export async function startConsoleRole(options: ConsoleRoleOptions): Promise<RunningConsole> {
  const { infrastructure, configuration, recorder, clock, random, logger } = options;
  const { console: settings, metricsBindAddress } = configuration;
  checkTls(settings.tls);
  const rules = configuredProblemRules(configuration.recording);
  const notify = configuredWebhook(configuration.recording);
  const { jaegerUrl: jaeger, jaegerQueryUrl, lostClusters, degraded } = settings;
  const history = new History({ ...settings, clock, logger });
  const follower = new BusFollower({ bus: infrastructure.bus, history, recorder, clock, random, logger });
  const identities = new StoredIdentities(infrastructure.clusterPins);
  const conflicts = () => identities.conflicts();
  const names = new Map<string, string>();
  const onClusters = (clusters: readonly ClusterView[]) => {
    for (const { identity, name } of clusters) {
      if (names.get(identity) !== name) recorder?.nameCluster(identity, name);
      names.set(identity, name);
    }
  };
  const ports = { clock, logger, recording: recorder, problemRules: rules, onClusters };
  const sources = new FleetSources(infrastructure, ports, jaegerTraces(jaegerQueryUrl), conflicts);
  const behind = () => follower.behind;
  const reviews = options.reviewing && new AccessReviews(options.reviewing.accesses, { clock, logger });
  const access = { hosts: hostsOf(settings), token: settings.token, reviewer: reviews };
  const shown = { version, behind, lostClusters, degraded, ...(jaeger !== undefined && { jaeger }) };
  const console = await createConsole({ history, sources, access, clock, logger, ...shown });
  const backends = backendChecks(options);
  const storeProblems = storeProblemCounts(infrastructure);
  const metrics = new Metrics({ clusters: names, fleet: true, storeProblems, backends: () => backends });
  metrics.show(
    {},
    {
      sluice_console_services: () => history.size,
      sluice_console_history_bytes: () => history.bytes,
      sluice_console_history_start_timestamp_seconds: () => (history.since ?? 0) / 1_000,
      sluice_console_partitions_backfilling: behind,
    },
  );
  const readHistory = async (signal: AbortSignal) => {
    await readFormerLogs(options, history, signal);
    await follower.run(signal);
  };
  let ready = false;
  const served = { metrics, health: healthOf(backends, () => ready), clock, log: logger };
  const page = { ...served, otherwise: console.handle, tls: settings.tls };
  const servers = [await startTelemetry(settings.bindAddress, page, logger, '--console-bind-address')];
  const [server] = servers;
  if (server === undefined) throw new UsageError('no free loopback port; pass --console-bind-address');
  // The setting for all roles of a fleet also applies to the console.
  if (metricsBindAddress) servers.push(await startTelemetry(metricsBindAddress, served, logger));
  const stopRereading =
    options.reread &&
    rereadConsole({
      initial: settings,
      reread: options.reread,
      clock,
      logger,
      apply: ({ token, tls }) => {
        access.token = token;
        if (tls !== undefined) server.setTls(tls);
      },
    });
  const observed = { history, sources, policy: lostClusters, index: backgroundIndex(clock) };
  const stopReporting = reportLogicalServices({ ...observed, clock, logger, metrics });
  const working = new AbortController();
  const identifying = options.reviewing?.run(working.signal);
  let problems: ProblemReporter | undefined;
  void follower.caughtUp.then(() => {
    ready = true;
    logger.info('history loaded', { services: history.size, bytes: history.bytes });
    if (recorder === undefined || working.signal.aborted) return;
    recorder.resume();
    problems = new ProblemReporter({ clock, logger, recording: recorder, metrics, names, notify, rules, observed });
  });
  return {
    url: server.url,
    done: Promise.all([readHistory(working.signal), sources.run(working.signal), identifying]),
    async stop() {
      working.abort();
      stopRereading?.();
      problems?.close();
      stopReporting();
      await console.close();
      await identifying?.catch(() => {});
      await reviews?.close();
      await Promise.all(servers.map((one) => one?.close()));
    },
  };
}

/** Reads the logs of former generations of partitions that may have records within the retention. */
async function readFormerLogs(
  { infrastructure, clock, logger }: ConsoleRoleOptions,
  history: History,
  signal: AbortSignal,
): Promise<void> {
  const { generation, openLogs } = infrastructure;
  for (const [former, { partitions, since }] of generation?.all.slice(0, -1).entries() ?? []) {
    const endedAt = generation?.all[former + 1]?.since ?? 0;
    // Such a generation was given up while its logs were created.
    const isEmpty = endedAt === since;
    if (openLogs === undefined || signal.aborted || isEmpty || endedAt < clock.now() - history.retentionMs) continue;
    try {
      const bus = await openLogs(former, partitions);
      try {
        await readLogs(bus, history, signal);
      } finally {
        await bus.close();
      }
    } catch (error) {
      logger.warn('cannot read the history from before the number of partitions changed', { partitions, error });
    }
  }
}

/** Accepted host names, including that of a specific bind address. */
function hostsOf({ hosts, bindAddress }: Configuration['console']): readonly string[] {
  if (bindAddress === undefined || isLoopback(bindAddress.host) || bindAddress.host === '') return hosts;
  const { host } = bindAddress;
  return [...hosts, (host.includes(':') ? `[${host}]` : host).toLowerCase()];
}

/** Whether bus and store answer. */
function backendChecks({ infrastructure, clock }: ConsoleRoleOptions): readonly Check[] {
  const { bus, leases } = infrastructure;
  const answers = (name: string, send: () => Promise<unknown>): Check => {
    const request = new SharedRequest(clock, send);
    return {
      name,
      run: async () => {
        await request.send();
        return '';
      },
    };
  };
  return [answers('bus', () => bus.end('requests', 0)), answers('store', () => leases.state('reconciler'))];
}

/** Ready when the history is loaded, and while bus and store answer. */
function healthOf(backends: readonly Check[], isRead: () => boolean): Health {
  const checks = [...backends, condition('history', isRead, 'history not loaded yet')];
  return { livez: () => [], readyz: () => checks };
}

function checkTls(tls: Configuration['console']['tls']): void {
  try {
    if (tls !== undefined) createSecureContext(tls);
  } catch (error) {
    const reason = errorMessage(error);
    throw new UsageError(`console.tls: invalid certificate or key: ${reason}; expected a matching pair in PEM`, {
      cause: error,
    });
  }
}
