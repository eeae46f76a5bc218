import type { Console } from '@sluice/console';
import type { Logger } from '@sluice/runtime';
import { Metrics } from '@sluice/telemetry';
import { startAllInOne } from '../all-in-one.ts';
import type { TracesConfiguration } from '../configuration/configuration.ts';
import type { Environment } from '../configuration/environment-layer.ts';
import { originText } from '../configuration/layer.ts';
import { openTelemetryLayer } from '../configuration/opentelemetry-layer.ts';
import { type ConnectedCluster, connect } from '../connect.ts';
import { createDisplay } from '../display/create-display.ts';
import { Statistics } from '../display/statistics.ts';
import { toSettings } from '../settings-options.ts';
import { startSimulation } from '../simulated.ts';
import { systemClock } from '../system/clock.ts';
import { createLogger, type RootLogger } from '../system/logger.ts';
import { systemRandom } from '../system/random.ts';
import { type BindAddress, isLoopback } from '../telemetry/bind-address.ts';
import { syncHealth } from '../telemetry/health.ts';
import { startConsole } from '../telemetry/start-console.ts';
import { startTelemetry } from '../telemetry/start-telemetry.ts';
import { startTracing } from '../telemetry/traces/start-tracing.ts';
import { defaultTraces, parseEndpoint, parseRatio } from '../traces-options.ts';
import { UsageError } from '../usage-error.ts';
import type { RunOptions } from './run-options.ts';

/** How long writes under way are waited for at the end. */
const graceMs = 5_000;

/** All services in this process, on one cluster or the simulated world, until `stopped` resolves. */
export async function runOneCluster(stopped: Promise<void>, options: RunOptions): Promise<void> {
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
