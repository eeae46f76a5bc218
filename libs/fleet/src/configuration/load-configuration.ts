import { readFileSync } from 'node:fs';
import { knownSecrets } from '@sluice/platform';
import { assembleBus } from './assemble-bus.ts';
import { assembleClusters } from './assemble-clusters.ts';
import { assembleConsole } from './assemble-console.ts';
import { assembleStore } from './assemble-store.ts';
import { type Configuration, configurationSecrets } from './configuration.ts';
import { fileLayer, type ReadText } from './file-layer.ts';
import { type Layer, merge } from './layer.ts';
import { openTelemetryLayer } from './opentelemetry-layer.ts';
import { Problems } from './problems.ts';
import {
  type ConfigurationFlags,
  configVariable,
  type Environment,
  environmentLayer,
  flagLayer,
} from './process-layers.ts';
import { check, defined, type Entry, type Values } from './values.ts';

export interface ConfigurationSources {
  /** Path of a YAML file. Default: `SLUICE_CONFIG`, or no file. */
  readonly file?: string | undefined;
  readonly environment: Environment;
  readonly flags: ConfigurationFlags;
  /** Called with warnings about likely mistakes. */
  readonly warn?: (text: string) => void;
  readonly readText?: ReadText;
}

/** The configuration and the origin of each value, for `sluice config`. */
export interface ResolvedConfiguration {
  readonly configuration: Configuration;
  readonly entries: readonly Entry[];
}

/**
 * Loads the configuration: file < environment < flags.
 *
 * @throws UsageError with all problems, without secrets
 */
export function loadConfiguration(sources: ConfigurationSources): Configuration {
  return resolveConfiguration(sources).configuration;
}

/** Like `loadConfiguration`, with the origin of each value. */
export function resolveConfiguration(sources: ConfigurationSources): ResolvedConfiguration {
  const { environment, flags, warn = () => {}, readText = (path) => readFileSync(path, 'utf8') } = sources;
  const problems = new Problems();
  const file = sources.file ?? (environment[configVariable] || undefined);
  const layers = file === undefined ? [] : [fileLayer(file, readText, problems)];
  const given = merge(
    [...layers, openTelemetryLayer(environment, warn), environmentLayer(environment, warn), flagLayer(flags, problems)],
    problems,
  );
  const values = check(given, readText, problems);
  problems.throwIfAny();
  const resolved = assemble(values, given, problems);
  problems.throwIfAny();
  knownSecrets.remember(owner, configurationSecrets(resolved.configuration, environment));
  return resolved;
}

/** A process has one configuration, which it reads again. */
const owner = {};

function assemble(values: Values, given: Layer, problems: Problems): ResolvedConfiguration {
  const { clusters, origin } = assembleClusters(values, given, problems);
  const { ratio, slow: slowMs, endpoint } = values.section('traces');
  const configuration: Configuration = {
    fleet: values.get('fleet'),
    partitions: values.get('partitions'),
    allowPlaintext: values.get('allowPlaintext'),
    bus: assembleBus(values, problems),
    store: assembleStore(values, problems),
    clusters,
    ...defined({ clusterSecrets: clusterSecrets(values, problems) }),
    leases: leases(values, problems),
    controllers: values.section('controllers'),
    watcher: values.section('watcher'),
    writer: values.section('writer'),
    traces: { endpoint, ratio, slowMs },
    log: values.section('log'),
    metricsBindAddress: values.get('metricsBindAddress'),
    console: assembleConsole(values, problems),
    recording: values.section('recording'),
  };
  const shown = clusters.map((cluster) => ({ ...cluster }));
  return { configuration, entries: [...values.entries(given), { path: 'clusters', shown, origin }] };
}

function leases(values: Values, problems: Problems): Configuration['leases'] {
  const ttlMs = values.get('leases.ttl');
  values.setDefault('leases.heartbeat', Math.min(250, Math.floor(ttlMs / 3)));
  const heartbeatMs = values.need('leases.heartbeat');
  if (heartbeatMs >= ttlMs / 2) {
    problems.add(
      `${values.where('leases.heartbeat')} is ${heartbeatMs}ms; expected less than half of leases.ttl, ${ttlMs}ms`,
    );
  }
  return { ttlMs, heartbeatMs };
}

function clusterSecrets(values: Values, problems: Problems): Configuration['clusterSecrets'] {
  const { selector, namespace, kubeconfig, context } = values.section('clusterSecrets');
  if (context !== undefined && kubeconfig === undefined) {
    problems.add(
      `${values.where('clusterSecrets.context')} is set without a kubeconfig: set clusterSecrets.kubeconfig`,
    );
  }
  return selector === undefined ? undefined : { selector, namespace, ...defined({ kubeconfig, context }) };
}
