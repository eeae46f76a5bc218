import type { Configuration } from '@sluice/fleet/configuration';
import {
  graceMs,
  marginMs,
  nameClusters,
  print,
  type RootLogger,
  shutDown,
  systemClock,
  systemRandom,
} from '@sluice/platform/process';
import { Metrics } from '@sluice/telemetry';
import { reviewsOf } from '../../composition/access-reviews.ts';
import { openRecorder } from '../../composition/open-recorder.ts';
import { ProblemReporter } from '../../composition/problem-reporter.ts';
import { configuredProblemRules } from '../../composition/problem-rules-file.ts';
import { configuredWebhook } from '../../composition/problem-webhook.ts';
import { startObserver } from '../../composition/start-observer.ts';
import { backgroundIndex, reportLogicalServices } from '../../composition/telemetry/report-logical-services.ts';
import { startConsole } from '../../composition/telemetry/start-console.ts';
import { openClusterSet } from './cluster-set.ts';
import { pageAddressesOf, serve } from './serve-page.ts';

/** What stays in memory of a history that is recorded. Dropping a record applies it again, so much less would cost CPU. */
const recordedHistory = { maxBytes: 32 * 1024 ** 2, retentionMs: 3_600_000 };

/** Observes the clusters that the configuration selects, until `stopped` resolves. */
export async function runObserver(
  stopped: Promise<void>,
  configuration: Configuration,
  logger: RootLogger,
): Promise<void> {
  const { console: limits, watcher } = configuration;
  const addresses = pageAddressesOf(configuration);
  const ports = { clock: systemClock, random: systemRandom, logger };
  const rules = configuredProblemRules(configuration.recording);
  const notify = configuredWebhook(configuration.recording);
  const clusters = await openClusterSet(configuration, logger, { readOnly: true });
  const { names, phases, threadUses, health, hooks } = clusters;
  const metrics = new Metrics({ clusters: names, fleet: true, phases, threadUses });
  const recorder = await openRecorder(configuration.recording, { ...ports, environment: process.env });
  const memory = recorder === undefined ? limits : recordedHistory;
  const reviews = reviewsOf(configuration, clusters.accesses, ports);
  const { lostClusters, degraded, serviceNameLabel, maxServices } = limits;
  const { console, history } = startConsole(
    () => clusters.views(),
    { lostClusters, degraded, serviceNameLabel, maxServices },
    { ...ports, history: memory, recording: recorder, problemRules: rules, reviewer: reviews },
  );
  const server = await serve(
    addresses,
    { metrics, health, clock: systemClock, log: logger, otherwise: console.handle },
    logger,
  );
  const named = nameClusters(logger, names);
  const observer = startObserver({
    ...ports,
    history,
    recorder,
    metrics,
    logger: named,
    maxCacheBytes: watcher.maxCacheBytes,
    onAvailability: hooks.onAvailability,
    onSynced(cluster, namespace) {
      hooks.onSynced?.(cluster);
      recorder?.nameCluster(cluster.identity, cluster.name);
      logger.info('recording cluster', { cluster: cluster.name, ...(namespace !== undefined && { namespace }) });
    },
  });
  const observed = {
    ...{ history, sources: { clusters: () => clusters.views() } },
    ...{ policy: limits.lostClusters, index: backgroundIndex(systemClock) },
  };
  const reported = { ...ports, metrics, logger: named, names, notify, rules, observed };
  const problems: ProblemReporter | undefined = recorder && new ProblemReporter({ ...reported, recording: recorder });
  const stopReporting = reportLogicalServices({ ...ports, ...observed, metrics });
  const stopping = new AbortController();
  const serving = clusters.run(observer, stopping.signal);
  print(process.stdout, `${[...clusters.introduction, ...server.introduction].join('\n')}\n`);
  try {
    await Promise.race([stopped, serving]);
  } finally {
    stopping.abort();
    problems?.close();
    stopReporting();
    await shutDown(
      [
        { component: 'watchers', graceMs, stop: () => serving },
        { component: 'recording', graceMs: marginMs, stop: () => observer.close().then(() => recorder?.close()) },
        { component: 'console', graceMs: marginMs, stop: () => console.close() },
        { component: 'metrics server', graceMs: marginMs, stop: () => server.close() },
        { component: 'access reviews', graceMs: marginMs, stop: () => reviews?.close() },
        { component: 'cluster connections', graceMs: marginMs, stop: () => clusters.close() },
      ],
      ports,
    );
  }
}
