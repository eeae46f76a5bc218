import type { ClusterState } from '@sluice/clusters';
import { ClusterSet, checkOnlySource, connectTo, Latecomers, sourcesOf } from '@sluice/clusters';
import type { ClusterSecretsConfiguration, TracesOptions, WriterOptions } from '@sluice/configuration';
import { type SettingsOptions, toSettings } from '@sluice/configuration';
import type { BindAddress } from '@sluice/process';
import {
  createLogger,
  graceMs,
  type LogLevel,
  marginMs,
  shutDown,
  systemClock,
  systemRandom,
  tracesGraceMs,
} from '@sluice/process';
import { Metrics } from '@sluice/telemetry';
import { startAllInOne } from '../../composition/all-in-one.ts';
import { clusterChecks } from '../../composition/cluster-checks.ts';
import { condition } from '../../composition/telemetry/health.ts';
import { clusterView } from '../../composition/telemetry/start-console.ts';
import { startTelemetry } from '../../composition/telemetry/start-telemetry.ts';
import { startTracing } from '../../composition/telemetry/traces/start-tracing.ts';
import { createDisplay, type OutputFormat } from '../display/create-display.ts';
import { Statistics } from '../display/statistics.ts';
import { watchOutcomes } from '../display/watch-outcomes.ts';
import type { ManyClustersOptions } from './many-clusters.ts';
import { openConsole, whereToLook } from './run-console.ts';
import { tracesOf } from './run-traces.ts';

export interface RunClustersOptions
  extends ManyClustersOptions,
    SettingsOptions,
    WriterOptions,
    Partial<TracesOptions> {
  readonly output: OutputFormat;
  readonly logLevel: LogLevel;
  readonly jaegerUrl?: string;
  readonly jaegerQueryUrl?: string;
  readonly metricsBindAddress?: { readonly address: BindAddress | null };
  readonly console: boolean;
}

/** Where the flags say that clusters are named. */
function sourcesOfOptions(options: ManyClustersOptions, ports: Parameters<typeof sourcesOf>[2]) {
  if (options.named !== undefined) return sourcesOf(options.named, process.env, ports);
  const { kubeconfig, context, inCluster, clusterSecrets, clusterSecretsNamespace, clusterSecretsKubeconfig } = options;
  const named = kubeconfig !== undefined || inCluster;
  const secrets: ClusterSecretsConfiguration | undefined =
    clusterSecrets === undefined
      ? undefined
      : {
          selector: clusterSecrets,
          namespace: clusterSecretsNamespace ?? 'sluice',
          ...(clusterSecretsKubeconfig && { kubeconfig: clusterSecretsKubeconfig }),
        };
  const one = {
    name: context ?? 'default',
    ...(kubeconfig && { kubeconfig }),
    ...(context && { context }),
    ...(inCluster && { inCluster }),
  };
  return sourcesOf({ clusters: named ? [one] : [], clusterSecrets: secrets }, process.env, ports);
}

/** All services in this process, on all clusters that the flags name, as they come and go. */
export async function runClusters(stopped: Promise<void>, options: RunClustersOptions): Promise<void> {
  const logger = createLogger(options.output === 'json' ? 'json' : 'text', options.logLevel);
  const ports = { clock: systemClock, random: systemRandom, logger };
  const display = createDisplay(options.output);
  const statistics = new Statistics();
  const names = new Map<string, string>();
  const synced = new Set<string>();
  const sources = sourcesOfOptions(options, ports);
  await checkOnlySource(sources);
  const address = options.metricsBindAddress?.address;
  const tracing = await startTracing(tracesOf(options, process.env, logger), {
    systems: { messaging: 'memory', store: 'memory' },
    fleet: 'sluice',
    member: `all-in-one-${process.pid}`,
    ...ports,
  });
  const shown = () =>
    clusters.states.filter(({ identity }) => identity !== '').map((state) => clusterView(state, stateOf(state)));
  const watched = openConsole(shown, options, logger);
  const latecomers = new Latecomers(systemClock);
  const ending = new AbortController();
  const metrics =
    address === null
      ? undefined
      : new Metrics({ clusters: names, fleet: true, phases: () => clusters.states, spans: () => tracing?.counts });
  const fleet = startAllInOne({
    ...ports,
    clusters: [],
    settings: toSettings(options),
    limits: options,
    ...(metrics && { metrics }),
    tracers: tracing?.tracers,
    ...(watched && { tap: watched.tap }),
    mayCome: (identity) => latecomers.mayCome(identity, clusters.complete),
    onSynced: ({ identity }) => void synced.add(identity),
    ...watchOutcomes(statistics, display),
  });
  const clusters = new ClusterSet({
    ...ports,
    sources,
    open: (access, signal) => connectTo(access, { ...ports, signal, takeOver: options.takeOver }),
    serve: async (cluster, signal) => {
      names.set(cluster.identity, cluster.name);
      latecomers.came(cluster.identity);
      try {
        await fleet.serve(cluster, signal);
      } finally {
        synced.delete(cluster.identity);
      }
    },
    forget: ({ identity }) => {
      latecomers.gone(identity);
      return fleet.forget(identity);
    },
  });
  const listed = ({ name, phase, identity }: ClusterState) =>
    condition(`lists/${name}`, () => phase !== 'serving' || synced.has(identity), 'not all lists are in yet');
  const health = { livez: () => [], readyz: () => [...clusterChecks(clusters), ...clusters.states.map(listed)] };
  const otherwise = watched && { otherwise: watched.console.handle };
  const server =
    metrics && (await startTelemetry(address ?? undefined, { metrics, health, log: logger, ...otherwise }, logger));
  const startedAt = systemClock.now();
  display.started([
    ...sources.map(({ about }) => `Sluice keeps Endpoints and EndpointSlices of the clusters of ${about}`),
    ...whereToLook(server?.url, watched !== undefined),
  ]);
  const serving = clusters.run(ending.signal);
  try {
    await Promise.race([stopped, fleet.done, serving]);
  } finally {
    ending.abort();
    await shutDown(
      [
        { what: 'the services', graceMs: graceMs + marginMs, end: () => Promise.all([serving, fleet.stop(graceMs)]) },
        { what: 'the delivery of traces', graceMs: tracesGraceMs + marginMs, end: () => tracing?.close(tracesGraceMs) },
        { what: 'the console', graceMs: marginMs, end: () => watched?.console.close() },
        { what: 'the server of the metrics', graceMs: marginMs, end: () => server?.close() },
      ],
      ports,
    );
  }
  display.ended(statistics, systemClock.now() - startedAt);
}

/** In the words of the console. */
const stateOf = ({ phase, reason }: ClusterState): string =>
  phase === 'serving' ? 'watched' : reason === '' ? phase : `${phase}: ${reason}`;
