import type { Console } from '@sluice/console';
import type { Logger } from '@sluice/runtime';
import { Metrics } from '@sluice/telemetry';
import { type Command, Option } from 'commander';
import { startAllInOne } from '../all-in-one.ts';
import type { TracesConfiguration } from '../configuration/configuration.ts';
import type { Environment } from '../configuration/environment-layer.ts';
import { originText } from '../configuration/layer.ts';
import { openTelemetryLayer } from '../configuration/opentelemetry-layer.ts';
import { type ConnectedCluster, connect } from '../connect.ts';
import { createDisplay, type OutputFormat } from '../display/create-display.ts';
import { Statistics } from '../display/statistics.ts';
import { addSettingsOptions, durationFlag, type SettingsOptions, toSettings } from '../settings-options.ts';
import { startSimulation } from '../simulated.ts';
import { stopSignal } from '../stop-signal.ts';
import { systemClock } from '../system/clock.ts';
import { createLogger, type LogLevel, logLevels, type RootLogger } from '../system/logger.ts';
import { systemRandom } from '../system/random.ts';
import {
  type BindAddress,
  defaultBindAddress,
  formatBindAddress,
  isLoopback,
  parseBindAddress,
} from '../telemetry/bind-address.ts';
import { syncHealth } from '../telemetry/health.ts';
import { startConsole } from '../telemetry/start-console.ts';
import { startTelemetry } from '../telemetry/start-telemetry.ts';
import { startTracing } from '../telemetry/traces/start-tracing.ts';
import {
  addTracesOptions,
  defaultTraces,
  parseEndpoint,
  parseRatio,
  parseTraceUrl,
  type TracesOptions,
} from '../traces-options.ts';
import { UsageError } from '../usage-error.ts';
import { addWriterOptions, type WriterOptions } from '../writer-options.ts';
import { namesMany, runClusters } from './run-clusters.ts';
import { withConfiguration } from './run-configuration.ts';
import { runDistributed } from './run-distributed.ts';
import { runShadow } from './run-shadow.ts';

interface RunOptions extends SettingsOptions, WriterOptions, Partial<TracesOptions> {
  readonly config?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
  readonly clusterSecrets?: string;
  readonly clusterSecretsNamespace?: string;
  readonly clusterSecretsKubeconfig?: string;
  readonly for?: number;
  readonly output: OutputFormat;
  readonly distributed?: boolean;
  readonly shadow?: boolean;
  readonly shadowSettle: number;
  readonly logLevel: LogLevel;
  readonly seed?: number;
  readonly rate?: number;
  readonly jaegerUrl?: string;
  /** In an object, since commander takes a null for a flag without a value. Null: none. */
  readonly metricsBindAddress?: { readonly address: BindAddress | null };
}

/** How long writes under way are waited for at the end. */
const graceMs = 5_000;

export function addRunCommand(program: Command): void {
  const command = program
    .command('run')
    .summary('keep Endpoints and EndpointSlices right, all services in this process')
    .description(
      'Runs watcher, reconciler and writer in this process, in the foreground until SIGINT or SIGTERM.\n' +
        'With no cluster named it runs against a simulated API server with a small living world in it.',
    );
  addRunOptions(command).action(async (options: RunOptions) => {
    const warnings: string[] = [];
    const configured = await withConfiguration(options, command, process.env, (warning) => warnings.push(warning));
    const logger = createLogger(configured.output === 'json' ? 'json' : 'text', configured.logLevel);
    for (const warning of warnings) logger.warn(warning);
    await run(configured);
  });
}

/** All flags of `sluice run`. */
export function addRunOptions(command: Command): Command {
  command
    .option('--config <file>', 'what no flag says, in YAML, as for the roles; default $SLUICE_CONFIG')
    .option('--kubeconfig <path>', 'run on the cluster of this kubeconfig, or on those of a directory of kubeconfigs')
    .option('--context <name,...>', 'contexts of the kubeconfig, * for all; its current context if left out')
    .option('--cluster-secrets <selector>', 'run on the clusters of kubeconfigs in Secrets with these labels')
    .option('--cluster-secrets-namespace <name>', 'where these Secrets are (default sluice)')
    .option(
      '--cluster-secrets-kubeconfig <file>',
      'kubeconfig of the cluster that has them (default: that of this Pod)',
    )
    .option('--in-cluster', 'run on the cluster of the Pod in which this runs, as its service account')
    .option(
      '--distributed',
      'start NATS, Redis and the roles as processes of their own, and run the simulated world on them',
    )
    .option('--shadow', 'write nothing: compare with what the controllers of the cluster write')
    .addOption(
      new Option(
        '--shadow-settle <duration>',
        'how long the controllers of the cluster may take before it counts as a difference',
      )
        .argParser(durationFlag)
        .default(10_000, '10s'),
    )
    .option('--for <duration>', 'end by itself after this time, e.g. 20s or 1m30s', durationFlag)
    .addOption(
      new Option('-o, --output <format>', 'what standard output shows')
        .choices(['text', 'json', 'none'])
        .default('text'),
    )
    .addOption(
      new Option('--log-level <level>', 'least severe log line on standard error').choices(logLevels).default('info'),
    )
    .option(
      '--metrics-bind-address <host:port>',
      `serve the page, /metrics, /livez and /readyz here; 0 for nowhere (default ${formatBindAddress(defaultBindAddress)}, or a free port if taken)`,
      (text) => ({ address: parseBindAddress(text) }),
    )
    .option('--jaeger-url <url>', 'link traces to here, e.g. http://127.0.0.1:16686/trace/{traceId}', parseTraceUrl)
    .option('--seed <n>', 'simulated world: repeat the world of this seed', Number)
    .option('--rate <n>', 'simulated world: actions a second', Number);
  return addWriterOptions(addSettingsOptions(addTracesOptions(command)));
}

async function run(options: RunOptions): Promise<void> {
  check(options);
  const stop = stopSignal(options.for);
  try {
    if (options.shadow) await runShadow(stop.stopped, options);
    else if (options.distributed) await runDistributed(stop.stopped, options);
    else if (namesMany(options)) await runClusters(stop.stopped, options);
    else await runUntil(stop.stopped, options);
  } finally {
    stop.cancel();
  }
}

async function runUntil(stopped: Promise<void>, options: RunOptions): Promise<void> {
  const logger = createLogger(options.output === 'json' ? 'json' : 'text', options.logLevel);
  const display = createDisplay(options.output);
  const traces = tracesOf(options, process.env, logger);
  const cluster = await openCluster(options, logger);
  const statistics = new Statistics();
  const address = options.metricsBindAddress?.address;
  const tracing = await startTracing(traces, {
    systems: { messaging: 'memory', store: 'memory' },
    fleet: 'sluice',
    member: `all-in-one-${process.pid}`,
    environment: process.env,
    clock: systemClock,
    random: systemRandom,
    logger,
  });
  const clusters = new Map([[cluster.identity, cluster.name]]);
  const metrics = address === null ? undefined : new Metrics({ clusters, spans: () => tracing?.counts });
  let ready = false;
  const watched = await watchedBy(cluster, address, options.jaegerUrl, logger);
  const server = await serve(metrics, options, () => ready, logger, cluster, watched?.console);
  const startedAt = systemClock.now();
  const fleet = startAllInOne({
    clusters: [cluster],
    settings: toSettings(options),
    maxWritesInFlight: options.maxWritesInFlight,
    clock: systemClock,
    random: systemRandom,
    logger,
    ...(metrics && { metrics }),
    tracers: tracing?.tracers,
    ...(watched && { tap: watched.tap }),
    onOutcome: (from, plan, outcome) => {
      const since = plan.causes.first[0]?.observedAt ?? plan.decidedAt;
      const applied = { cluster: from.name, plan, outcome, latencyMs: outcome.completedAt - since };
      statistics.add(applied);
      display.applied(applied);
    },
    onMalformed: () => {
      statistics.malformed++;
    },
  });
  fleet.synced.then(
    () => {
      ready = true;
      display.synced();
    },
    () => {},
  );
  display.started([...introduction(cluster), ...whereToLook(server?.url, watched !== undefined)]);
  try {
    await Promise.race([stopped, fleet.done]);
  } finally {
    cluster.pause();
    await fleet.stop(graceMs);
    await tracing?.close(2_000);
    await watched?.console.close();
    await server?.close();
    await cluster.close();
  }
  display.ended(statistics, systemClock.now() - startedAt);
}

/** Flags before OpenTelemetry's variables. */
function tracesOf(options: RunOptions, environment: Environment, logger: Logger): TracesConfiguration {
  const given = openTelemetryLayer(environment, (text) => logger.warn(text));
  const read = <T>(path: string, parse: (text: string) => T): T | undefined => {
    const { raw, origin } = given.get(path) ?? {};
    if (raw === undefined || origin === undefined) return undefined;
    try {
      return parse(String(raw));
    } catch (error) {
      throw new UsageError(`${originText(origin)}: ${error instanceof Error ? error.message : error}`);
    }
  };
  return {
    endpoint: options.otlpEndpoint ?? read('traces.endpoint', parseEndpoint),
    ratio: options.traceRatio ?? read('traces.ratio', parseRatio) ?? defaultTraces.traceRatio,
    slowMs: options.traceSlow ?? defaultTraces.traceSlow,
  };
}

/** Closes the cluster again if it cannot serve where it should. */
async function serve(
  metrics: Metrics | undefined,
  { metricsBindAddress }: RunOptions,
  ready: () => boolean,
  logger: RootLogger,
  cluster: RunnableCluster,
  console: Console | undefined,
) {
  if (metrics === undefined) return undefined;
  const otherwise = console && { otherwise: console.handle };
  try {
    return await startTelemetry(
      metricsBindAddress?.address ?? undefined,
      { metrics, health: syncHealth(cluster.name, ready), log: logger, ...otherwise },
      logger,
    );
  } catch (error) {
    cluster.pause();
    await cluster.close();
    throw error;
  }
}

/** The console of this process, on the address of its metrics; undefined where it may not listen. */
async function watchedBy(
  cluster: RunnableCluster,
  address: BindAddress | null | undefined,
  jaeger: string | undefined,
  logger: Logger,
) {
  if (address === null) return undefined;
  if (address !== undefined && !isLoopback(address)) {
    logger.info('the console is not served here: others could reach it without a token', { see: 'sluice console' });
    return undefined;
  }
  return startConsole(cluster, jaeger, { clock: systemClock, logger });
}

function whereToLook(url: string | undefined, hasConsole: boolean): string[] {
  if (url === undefined) return [];
  return [...(hasConsole ? [`Look at it: ${url}`] : []), `Metrics: ${url}/metrics`];
}

function check(options: RunOptions): void {
  if (options.context !== undefined && options.kubeconfig === undefined) {
    throw new UsageError('--context names a context of a kubeconfig: give --kubeconfig FILE as well');
  }
  if (options.inCluster && options.kubeconfig !== undefined) {
    throw new UsageError('--in-cluster and --kubeconfig name two clusters: give one of them');
  }
  if (options.distributed && (options.kubeconfig !== undefined || options.inCluster || options.clusterSecrets)) {
    throw new UsageError(
      '--distributed shows the simulated world; on a cluster, start the roles: sluice watcher --help',
    );
  }
  if (options.shadow && namesMany(options)) {
    throw new UsageError('--shadow looks at one cluster: give one --kubeconfig FILE, and one --context');
  }
  if (options.shadow && options.kubeconfig === undefined && !options.inCluster) {
    throw new UsageError('--shadow compares with the controllers of a cluster: give --kubeconfig FILE or --in-cluster');
  }
  if (options.shadow && options.distributed) {
    throw new UsageError('--shadow runs in one process: leave --distributed out');
  }
  for (const name of ['seed', 'rate'] as const) {
    const value = options[name];
    if (value === undefined) continue;
    if (!Number.isFinite(value) || value < 0) throw new UsageError(`--${name} must be a number, zero or more`);
    if (options.kubeconfig !== undefined || options.inCluster)
      throw new UsageError(`--${name} is for the simulated world only`);
  }
}

interface RunnableCluster extends ConnectedCluster {
  /** What to tell at the start. */
  readonly about: readonly string[];
  /** Stops what makes changes of itself. */
  pause(): void;
}

async function openCluster(options: RunOptions, logger: Logger): Promise<RunnableCluster> {
  const ports = { clock: systemClock, random: systemRandom, logger };
  if (options.kubeconfig === undefined && !options.inCluster) {
    return startSimulation({
      ...ports,
      ...(options.seed !== undefined && { seed: options.seed }),
      ...(options.rate !== undefined && { rate: options.rate }),
    });
  }
  const cluster = await connect(
    {
      ...ports,
      takeOver: options.takeOver,
      ...(options.kubeconfig !== undefined && { kubeconfig: options.kubeconfig }),
      ...(options.context !== undefined && { context: options.context }),
      ...(options.inCluster !== undefined && { inCluster: options.inCluster }),
    },
    process.env,
  );
  return { ...cluster, about: [], pause() {} };
}

function introduction(cluster: RunnableCluster): string[] {
  return [
    `Sluice keeps Endpoints and EndpointSlices of ${cluster.name} (Kubernetes ${cluster.version}) at ${cluster.server}`,
    ...cluster.about,
  ];
}
