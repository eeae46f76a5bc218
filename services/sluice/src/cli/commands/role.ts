import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { openInfrastructure } from '@sluice/backends';
import { checkOnlySource, clusterSources } from '@sluice/clusters';
import type { Configuration } from '@sluice/configuration';
import { addConfigurationOptions, configurationOf } from '@sluice/configuration';
import {
  closing,
  createLogger,
  exitSoon,
  graceMs,
  marginMs,
  shutDown,
  stopSignal,
  systemClock,
  systemRandom,
  tracesGraceMs,
  UsageError,
} from '@sluice/process';
import { startTelemetry } from '@sluice/telemetry';
import type { Command } from 'commander';
import { retryUntilConnected } from '../../composition/roles/retry-until-connected.ts';
import { type Role, startRole } from '../../composition/roles/start-role.ts';
import { startTracing } from '../../composition/telemetry/traces/start-tracing.ts';

const summaries: Readonly<Record<Role, string>> = {
  watcher: 'watch clusters and publish changes to the bus',
  reconciler: 'compute the writes for a share of the partitions',
  writer: 'apply planned writes of a share of the partitions to the clusters',
};

export function addRoleCommands(program: Command): void {
  for (const role of Object.keys(summaries) as Role[]) {
    const command = program
      .command(role)
      .summary(summaries[role])
      .description(
        `Runs one ${role} of a fleet in the foreground until SIGINT or SIGTERM: ${summaries[role]}.\n` +
          'Any number can run; they share the work and take over from each other.',
      );
    addConfigurationOptions(command).action(async () => {
      const warnings: string[] = [];
      const configuration = await configurationOf(command, process.env, (warning) => warnings.push(warning));
      await run(role, configuration, warnings);
    });
  }
}

async function run(role: Role, configuration: Configuration, warnings: readonly string[]): Promise<void> {
  const log = createLogger(configuration.log.format, configuration.log.level);
  const logger = log.with({ role });
  for (const warning of warnings) logger.warn(warning);
  if (role !== 'reconciler' && configuration.clusters.length === 0 && configuration.clusterSecrets === undefined) {
    throw new UsageError(
      `a ${role} needs a cluster: pass --kubeconfig FILE, --in-cluster or --cluster-secrets SELECTOR, or list clusters in --config FILE`,
    );
  }
  const ports = { clock: systemClock, random: systemRandom, logger };
  const stop = stopSignal(undefined, logger);
  if (role !== 'reconciler') await checkOnlySource(clusterSources(configuration, process.env, ports));
  const infrastructure = await retryUntilConnected(() => openInfrastructure(configuration, ports), ports, stop.stopped);
  if (infrastructure === undefined) {
    exitSoon(logger);
    return logger.info('stopped before connecting to bus and store');
  }
  try {
    // Unique, and new with each start: who comes back after a crash is somebody else.
    const member = `${role}-${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
    const tracing = await startTracing(configuration.traces, {
      systems: { messaging: configuration.bus.kind, store: configuration.store.kind },
      fleet: configuration.fleet,
      member,
      ...ports,
    });
    const environment = process.env;
    const running = startRole({ role, infrastructure, configuration, member, environment, tracing, ...ports });
    const { metrics, health } = running;
    const address = configuration.metricsBindAddress ?? undefined;
    const server = metrics && (await startTelemetry(address, { metrics, health, log }, logger));
    logger.info('started', { member, ...(server && { metrics: `${server.url}/metrics` }) });
    try {
      await Promise.race([stop.stopped, running.done]);
    } finally {
      await shutDown(
        [
          { component: role, graceMs: graceMs + marginMs, stop: () => running.stop(graceMs) },
          {
            component: 'trace export',
            graceMs: tracesGraceMs + marginMs,
            stop: () => tracing?.close(tracesGraceMs),
          },
          { component: 'metrics server', graceMs: marginMs, stop: () => server?.close() },
        ],
        ports,
      );
    }
    logger.info('stopped', { member });
  } finally {
    await shutDown([closing(infrastructure)], ports);
    stop.cancel();
    exitSoon(logger);
  }
}
