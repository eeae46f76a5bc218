import type { Clock, Logger, Random } from '@sluice/runtime';
import { sleep } from '@sluice/runtime';
import { Metrics } from '@sluice/telemetry';
import type { WritableCluster } from '@sluice/writer';
import type { Configuration } from '../configuration/configuration.ts';
import type { ConnectedCluster } from '../connect.ts';
import { toSettings } from '../settings-options.ts';
import type { Health } from '../telemetry/health.ts';
import type { Tracing } from '../telemetry/traces/start-tracing.ts';
import { writable } from '../writable-cluster.ts';
import { Clusters, reach } from './reach-clusters.ts';
import { runReconcilerRole } from './reconciler-role.ts';
import type { Infrastructure, RoleOptions } from './role.ts';
import { RoleHealth } from './role-health.ts';
import { runWatcherRole } from './watcher-role.ts';
import { runWriterRole } from './writer-role.ts';

export type Role = 'watcher' | 'reconciler' | 'writer';

export interface StartRoleOptions {
  readonly role: Role;
  readonly infrastructure: Infrastructure;
  readonly member: string;
  /** Its clusters are of no use to a reconciler, which sees none. */
  readonly configuration: Pick<Configuration, 'leases' | 'clusters' | 'controllers' | 'writer'>;
  readonly environment: NodeJS.ProcessEnv;
  /** Undefined: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface RunningRole {
  readonly metrics: Metrics;
  readonly health: Health;
  /** Rejects if it cannot go on; resolves after `stop`. */
  readonly done: Promise<unknown>;
  /** Hands over, gives requests under way up to `graceMs`, and ends. */
  stop(graceMs: number): Promise<void>;
}

/** Starts one role in this process. The infrastructure stays the caller's to close. */
export function startRole(options: StartRoleOptions): RunningRole {
  const { role, infrastructure, configuration, member, tracing, clock, random, logger } = options;
  const working = new AbortController();
  const requests = new AbortController();
  const names = new Map<string, string>();
  const metrics = new Metrics({ clusters: names, fleet: true, spans: () => tracing?.counts });
  const clusters = new Clusters(role === 'reconciler' ? [] : configuration.clusters);
  const health = new RoleHealth({
    ...{ ...infrastructure, clock, member, leaseTimes: configuration.leases },
    clusters: () => (role === 'reconciler' ? [] : clusters.checks),
  });
  const roleOptions: RoleOptions = {
    ...infrastructure,
    member,
    leaseTimes: configuration.leases,
    tracer: tracing?.tracers[role],
    clock,
    random,
    logger,
    metrics,
    health,
    onDeadLetter: (topic) => metrics.pipeline.setAside(topic),
  };
  const reachAll = (use: (cluster: ConnectedCluster) => Promise<unknown> | undefined) =>
    Promise.all(
      configuration.clusters.map(async (choice) => {
        const ports = { clock, random, logger, takeOver: configuration.writer.takeOver };
        const work = role === 'watcher' ? 'watch' : 'write';
        const cluster = await reach(choice, work, ports, options.environment, working.signal);
        if (cluster === undefined) return;
        clusters.add(cluster);
        names.set(cluster.identity, cluster.name);
        await use(cluster);
      }),
    );
  const run = async (): Promise<unknown> => {
    switch (role) {
      case 'reconciler':
        return runReconcilerRole(
          {
            ...roleOptions,
            settings: toSettings(configuration.controllers),
          },
          working.signal,
        );
      case 'watcher':
        return reachAll((cluster) =>
          runWatcherRole(
            {
              ...roleOptions,
              cluster,
              metrics,
              onMalformed: (resource) => metrics.pipeline.malformed(cluster.identity, resource),
            },
            working.signal,
          ),
        );
      case 'writer': {
        const reached = new Map<string, WritableCluster>();
        return Promise.all([
          reachAll(
            (cluster) =>
              void reached.set(cluster.identity, writable(cluster, { metrics, clock, ...configuration.writer })),
          ),
          runWriterRole(
            {
              ...roleOptions,
              requests: requests.signal,
              cluster: (identity) => reached.get(identity) ?? (clusters.complete ? undefined : 'connecting'),
              onOutcome: (plan, outcome) => metrics.pipeline.repeated(plan.key.cluster, outcome.retries),
            },
            working.signal,
          ),
        ]);
      }
    }
  };
  const done = run();
  return {
    metrics,
    health,
    done,
    async stop(graceMs) {
      working.abort();
      const grace = new AbortController();
      const ended = Promise.allSettled([done]).then(() => grace.abort());
      await sleep(clock, graceMs, grace.signal);
      requests.abort();
      await ended;
      await clusters.close();
    },
  };
}
