import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { checkOnlySource } from '@sluice/fleet/clusters';
import type { StartLeaseThread } from '@sluice/fleet/lease-thread';
import { ThreadShares, YieldQueue } from '@sluice/platform';
import {
  eventLoopBusyMs,
  graceMs,
  marginMs,
  systemClock,
  systemRandom,
  tracesGraceMs,
  UsageError,
} from '@sluice/platform/process';
import { startTelemetry } from '@sluice/telemetry';
import type { Command } from 'commander';
import { clusterConnections, type Role } from '../../composition/roles/role.ts';
import { startRole } from '../../composition/roles/start-role.ts';
import { startTracing } from '../../composition/telemetry/start-tracing.ts';
import { configure, type Process, runProcess } from './run-process.ts';

/** Runs one role of a fleet until SIGINT or SIGTERM. */
export async function runRole(role: Role, command: Command, startLeaseThread: StartLeaseThread): Promise<void> {
  const configured = await configure(command);
  const { configuration, log } = configured;
  const logger = log.with({ role });
  const environment = process.env;
  const threadShares = new ThreadShares({ clock: systemClock, logger, yieldQueue: new YieldQueue(setImmediate) });
  const connections = clusterConnections({
    role,
    configuration,
    environment,
    threadShares,
    clock: systemClock,
    random: systemRandom,
    logger,
  });
  if (role !== 'reconciler') {
    if (configuration.clusters.length === 0 && configuration.clusterSecrets === undefined) {
      throw new UsageError(
        `a ${role} needs a cluster: pass --kubeconfig FILE, --context NAME, --in-cluster or --cluster-secrets SELECTOR, or list clusters in --config FILE`,
      );
    }
    await checkOnlySource(connections.sources);
  }
  let early: typeof connections | undefined = connections;
  const start: Process['start'] = async (infrastructure, ports) => {
    // Unique per start, so that a restarted process does not inherit the leases of the crashed one.
    const member = `${role}-${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
    const tracing = await startTracing(configuration.traces, {
      systems: { messaging: configuration.bus.kind, store: configuration.store.kind },
      fleet: configuration.fleet,
      member,
      ...ports,
    });
    const running = startRole({
      role,
      infrastructure,
      configuration,
      member,
      environment,
      connections: early,
      tracing,
      ...ports,
      busyMs: eventLoopBusyMs,
      threadShares,
    });
    // In another generation of partitions, it connects again.
    early = undefined;
    const { metrics, health } = running;
    const address = configuration.metricsBindAddress ?? undefined;
    const server = metrics && (await startTelemetry(address, { metrics, health, clock: ports.clock, log }, logger));
    const { recordBytes, messageBytes } = infrastructure.bus.limits;
    const limits = { maxRecordBytes: recordBytes, maxMessageBytes: messageBytes };
    logger.info('started', { member, ...limits, ...(server && { metrics: `${server.url}/metrics` }) });
    return {
      done: running.done,
      stop: [
        { component: role, graceMs: graceMs + marginMs, stop: () => running.stop(graceMs) },
        {
          component: 'trace export',
          graceMs: tracesGraceMs + marginMs,
          stop: () => tracing?.exporter.close(tracesGraceMs),
        },
        { component: 'metrics server', graceMs: marginMs, stop: () => server?.close() },
      ],
    };
  };
  // Bus and store open at the same time.
  connections.start();
  try {
    await runProcess(configured, logger, { startLeaseThread, start });
  } finally {
    await connections.close();
  }
}
