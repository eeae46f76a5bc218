import { type ConnectedCluster, connect } from '@sluice/clusters';
import { toSettings } from '@sluice/configuration';
import type { Console } from '@sluice/console';
import {
  createLogger,
  graceMs,
  marginMs,
  type RootLogger,
  shutDown,
  systemClock,
  systemRandom,
  tracesGraceMs,
} from '@sluice/process';
import type { Logger } from '@sluice/runtime';
import { Metrics } from '@sluice/telemetry';
import { startAllInOne } from '../../composition/all-in-one.ts';
import { syncHealth } from '../../composition/telemetry/health.ts';
import { clusterView } from '../../composition/telemetry/start-console.ts';
import { startTelemetry } from '../../composition/telemetry/start-telemetry.ts';
import { startTracing } from '../../composition/telemetry/traces/start-tracing.ts';
import { createDisplay } from '../display/create-display.ts';
import { Statistics } from '../display/statistics.ts';
import { watchOutcomes } from '../display/watch-outcomes.ts';
import { openConsole, whereToLook } from './run-console.ts';
import type { RunOptions } from './run-options.ts';
import { tracesOf } from './run-traces.ts';

/** All services in this process, on one cluster or the simulated world, until `stopped` resolves. */
export async function runOneCluster(stopped: Promise<void>, options: RunOptions): Promise<void> {
  const logger = createLogger(options.output === 'json' ? 'json' : 'text', options.logLevel);
  const display = createDisplay(options.output);
  const traces = tracesOf(options, process.env, logger);
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  const cluster = await openCluster(options, stopping.signal, logger).catch((error: unknown) => {
    if (stopping.signal.aborted) return undefined;
    throw error;
  });
  if (cluster === undefined) return logger.info('asked to end before the cluster was reached');
  const statistics = new Statistics();
  const address = options.metricsBindAddress?.address;
  const tracing = await startTracing(traces, {
    systems: { messaging: 'memory', store: 'memory' },
    fleet: 'sluice',
    member: `all-in-one-${process.pid}`,
    clock: systemClock,
    random: systemRandom,
    logger,
  });
  const clusters = new Map([[cluster.identity, cluster.name]]);
  const metrics = address === null ? undefined : new Metrics({ clusters, spans: () => tracing?.counts });
  let ready = false;
  const watched = openConsole(() => [clusterView(cluster)], options, logger);
  const server = await serve(metrics, options, () => ready, logger, cluster, watched?.console);
  const startedAt = systemClock.now();
  const fleet = startAllInOne({
    clusters: [cluster],
    settings: toSettings(options),
    limits: options,
    clock: systemClock,
    random: systemRandom,
    logger,
    ...(metrics && { metrics }),
    tracers: tracing?.tracers,
    ...(watched && { tap: watched.tap }),
    ...watchOutcomes(statistics, display),
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
    await shutDown(
      [
        { what: 'the services', graceMs: graceMs + marginMs, end: () => fleet.stop(graceMs) },
        { what: 'the delivery of traces', graceMs: tracesGraceMs + marginMs, end: () => tracing?.close(tracesGraceMs) },
        { what: 'the console', graceMs: marginMs, end: () => watched?.console.close() },
        { what: 'the server of the metrics', graceMs: marginMs, end: () => server?.close() },
        { what: `the connections to ${cluster.name}`, graceMs: marginMs, end: () => cluster.close() },
      ],
      { clock: systemClock, logger },
    );
  }
  display.ended(statistics, systemClock.now() - startedAt);
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

interface RunnableCluster extends ConnectedCluster {
  /** What to tell at the start. */
  readonly about: readonly string[];
  /** Stops what makes changes of itself. */
  pause(): void;
}

async function openCluster(options: RunOptions, signal: AbortSignal, logger: Logger): Promise<RunnableCluster> {
  const ports = { clock: systemClock, random: systemRandom, logger };
  if (options.kubeconfig === undefined && !options.inCluster) {
    const { startSimulation } = await import('../../demo/simulated.ts');
    return startSimulation({
      ...ports,
      ...(options.seed !== undefined && { seed: options.seed }),
      ...(options.rate !== undefined && { rate: options.rate }),
    });
  }
  const cluster = await connect(
    {
      ...ports,
      signal,
      readEarly: true,
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
