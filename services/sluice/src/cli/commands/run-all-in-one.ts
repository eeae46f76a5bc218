import { tapBus } from '@sluice/console';
import { type TracesConfiguration, toCompaction, toSettings } from '@sluice/fleet/configuration';
import type { Logger } from '@sluice/platform';
import {
  exitStatus,
  graceMs,
  marginMs,
  nameClusters,
  type RootLogger,
  shutDown,
  systemClock,
  systemRandom,
  tracesGraceMs,
} from '@sluice/platform/process';
import { Metrics } from '@sluice/telemetry';
import { reviewsOf } from '../../composition/access-reviews.ts';
import { startAllInOne } from '../../composition/all-in-one.ts';
import { configuredRecorder } from '../../composition/configured-recorder.ts';
import { ProblemReporter } from '../../composition/problem-reporter.ts';
import { configuredProblemRules } from '../../composition/problem-rules-file.ts';
import { configuredWebhook } from '../../composition/problem-webhook.ts';
import { backgroundIndex, reportLogicalServices } from '../../composition/telemetry/report-logical-services.ts';
import { startTracing } from '../../composition/telemetry/start-tracing.ts';
import { createDisplay } from '../display/create-display.ts';
import { type ClusterPhase, recordOutcome, Statistics } from '../display/display.ts';
import { openClusterSet } from './cluster-set.ts';
import { demoCommands } from './demo-commands.ts';
import { openOneCluster } from './one-cluster.ts';
import { openConsole, servedAt } from './open-console.ts';
import { type Run, selectsCluster, selectsManyClusters } from './run-options.ts';
import { serve } from './serve-page.ts';
import type { ServedClusters } from './served-clusters.ts';
import { openSimulatedClusters } from './simulated-clusters.ts';

/** Runs all services in this process until `stopped` resolves. */
export async function runAllInOne(stopped: Promise<void>, run: Run, logger: RootLogger): Promise<void> {
  const { configuration } = run;
  const addresses = servedAt(run);
  const ports = { clock: systemClock, random: systemRandom, logger };
  const rules = configuredProblemRules(configuration.recording);
  const notify = configuredWebhook(configuration.recording);
  const hasMany = (run.clusters ?? 1) > 1 || selectsManyClusters(configuration);
  const statistics = new Statistics();
  const stopping = new AbortController();
  // Later, because it changes the phases of clusters, which the summary has.
  const ending = new AbortController();
  void stopped.then(() => stopping.abort());
  const opened = openClusters(run, stopping.signal, logger);
  const clusters = await opened.catch((error: unknown) => {
    if (stopping.signal.aborted) return undefined;
    throw error;
  });
  if (clusters === undefined) return logger.info('stopped before connecting to the cluster');
  const tracing = await startTracing(tracesOf(run), {
    ...ports,
    hasPage: run.console,
    systems: { messaging: 'memory', store: 'memory' },
    fleet: 'sluice',
    member: `all-in-one-${process.pid}`,
  });
  const { names, phases, threadUses, hooks, health, leadership, demo } = clusters;
  const display = createDisplay(run.output, {
    showsCluster: hasMany,
    live: demo && {
      ...{ clock: systemClock, statistics, signal: ending.signal },
      ...{ degraded: configuration.console.degraded, happening: demo.happening },
      clusters: hasMany ? phases : undefined,
    },
  });
  tracing?.exporter.nameClusters(names);
  // One cluster has the labels of upstream's metrics; a set of clusters may grow.
  const fleet = clusters.initial.length === 0;
  const metrics =
    (addresses.page ?? addresses.metrics) === null
      ? undefined
      : new Metrics({ clusters: names, spans: () => tracing?.exporter.counts, fleet, phases, threadUses });
  const recorder = await configuredRecorder(configuration, { ...ports, environment: process.env });
  const reviews = reviewsOf(configuration, clusters.accesses, ports);
  const console = openConsole(() => clusters.views(), run, logger, {
    recording: recorder,
    problemRules: rules,
    reviewer: reviews,
    trace: tracing?.trace,
  });
  const server =
    metrics &&
    (await serve(
      addresses,
      { metrics, health, clock: systemClock, log: logger, ...(console && { otherwise: console.console.handle }) },
      logger,
    ).catch(async (error: unknown) => {
      clusters.pause();
      await clusters.close();
      throw error;
    }));
  const startedAt = systemClock.now();
  const named = nameClusters(logger, names);
  const services = startAllInOne({
    ...ports,
    ...hooks,
    clusters: clusters.initial,
    settings: toSettings(configuration.controllers),
    limits: configuration.writer,
    logger: named,
    compaction: toCompaction(configuration.controllers),
    startAfter: leadership?.started,
    maxCacheBytes: configuration.watcher.maxCacheBytes,
    ...(metrics && { metrics }),
    tracers: tracing?.tracers,
    ...((console || recorder) && { tap: (bus) => tapBus(bus, console?.history, recorder) }),
    onSynced(cluster) {
      hooks.onSynced?.(cluster);
      recorder?.nameCluster(cluster.identity, cluster.name);
    },
    onOutcome: ({ name: cluster }, plan, outcome) => recordOutcome(statistics, display, { cluster, plan, outcome }),
    onMalformed: () => void statistics.malformed++,
  });
  if (clusters.initial.length > 0) {
    services.synced.then(
      () => {
        clusters.synced();
        for (const { identity, name } of clusters.initial) recorder?.nameCluster(identity, name);
        display.synced();
      },
      () => {},
    );
  }
  const observed = console && {
    ...{ history: console.history, sources: { clusters: () => clusters.views() } },
    ...{ policy: configuration.console.lostClusters, index: backgroundIndex(systemClock) },
  };
  const reported = { ...ports, metrics, logger: named, names, notify, rules, observed };
  const problems: ProblemReporter | undefined = recorder && new ProblemReporter({ ...reported, recording: recorder });
  const stopReporting = observed && metrics && reportLogicalServices({ ...ports, ...observed, metrics });
  const serving = clusters.run(services, ending.signal);
  display.started([
    ...clusters.introduction,
    ...(server?.introduction ?? []),
    ...(demo ? demoCommands(demo, server?.page) : []),
  ]);
  let phasesAtEnd: readonly ClusterPhase[] = [];
  try {
    // As in kube-controller-manager, a former leader ends, and starts again as a standby.
    const lost = leadership?.ended.then(() => (process.exitCode = exitStatus.failure));
    await Promise.race([stopped, services.done, serving, ...(lost === undefined ? [] : [lost])]);
  } finally {
    const parked = (await services.parked()).map(({ key, controller }) => {
      const cluster = names.get(key.cluster) ?? key.cluster;
      return `${cluster}/${key.namespace}/${key.service}/${controller}`;
    });
    statistics.keepRefused(new Set(parked));
    // Before they are stopped, which changes their phases.
    phasesAtEnd = hasMany ? phases() : [];
    stopping.abort();
    ending.abort();
    problems?.close();
    stopReporting?.();
    clusters.pause();
    await shutDown(
      [
        {
          component: 'services',
          graceMs: graceMs + marginMs,
          stop: () => Promise.all([serving, services.stop(graceMs)]),
        },
        {
          component: 'trace export',
          graceMs: tracesGraceMs + marginMs,
          stop: () => tracing?.exporter.close(tracesGraceMs),
        },
        { component: 'recording', graceMs: marginMs, stop: () => recorder?.close() },
        { component: 'console', graceMs: marginMs, stop: () => console?.console.close() },
        { component: 'metrics server', graceMs: marginMs, stop: () => server?.close() },
        { component: 'access reviews', graceMs: marginMs, stop: () => reviews?.close() },
        { component: 'cluster connections', graceMs: marginMs, stop: () => clusters.close() },
      ],
      ports,
    );
  }
  display.ended(statistics, systemClock.now() - startedAt, phasesAtEnd);
  if (statistics.refused.size > 0) process.exitCode ||= exitStatus.failure;
}

function openClusters(run: Run, signal: AbortSignal, logger: Logger): Promise<ServedClusters> {
  const { configuration, clusters = 1 } = run;
  if (clusters > 1) return openSimulatedClusters(clusters, run, logger);
  return selectsManyClusters(configuration)
    ? openClusterSet(configuration, logger)
    : openOneCluster(run, signal, logger);
}

/** The simulated cluster keeps every trace for the page, unless an endpoint is given. */
function tracesOf({ configuration, console }: Run): TracesConfiguration {
  const { traces } = configuration;
  const isSimulated = !selectsCluster(configuration);
  return isSimulated && console && traces.endpoint === undefined ? { ...traces, endpoint: 'memory', ratio: 1 } : traces;
}
