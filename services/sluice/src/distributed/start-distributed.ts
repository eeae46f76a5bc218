import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalError, type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import type { Outcome, PlannedMutations } from '@sluice/messages';
import type { Clock, Logger, Random } from '@sluice/runtime';
import { openInfrastructure } from '../roles/open-infrastructure.ts';
import type { Role } from '../roles/start-role.ts';
import { UsageError } from '../usage-error.ts';
import { followPlans } from './follow-plans.ts';
import { RoleProcess } from './role-process.ts';

export interface DistributedOptions {
  /** Of the cluster, without credentials. */
  readonly server: string;
  readonly clusterName: string;
  /** Further flags for every role. */
  readonly flags: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly onOutcome: (plan: PlannedMutations, outcome: Outcome) => void;
  /** What a role says on standard error. */
  readonly onLine: (process: string, line: string) => void;
}

export interface Distributed {
  readonly about: readonly string[];
  /** Resolves with the reason if a role ends by itself. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

/** Two of each: enough to see work being shared and handed over. */
const processes: readonly Role[] = ['watcher', 'watcher', 'reconciler', 'reconciler', 'writer', 'writer'];

const partitions = 16;

/**
 * NATS and Redis of this machine's own, and the roles of a fleet as processes on them, all on loopback and gone with this
 * process.
 */
export async function startDistributed(options: DistributedOptions): Promise<Distributed> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-distributed-'));
  const ended: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })];
  const close = async () => {
    for (const end of ended.reverse()) await end();
  };
  try {
    const [nats, redis] = await startServers(directory, ended);
    const ports = { clock: options.clock, random: options.random, logger: options.logger };
    const bus = { kind: 'nats', servers: [nats.url] } as const;
    const store = { kind: 'redis', urls: [redis.url] } as const;
    const infrastructure = await openInfrastructure({ fleet: 'sluice', partitions, bus, store }, ports);
    const following = new AbortController();
    const followed = followPlans(infrastructure.bus, options.onOutcome, following.signal);
    ended.push(async () => {
      following.abort();
      await followed.catch(() => {});
      await infrastructure.close();
    });
    const kubeconfig = join(directory, 'kubeconfig.json');
    writeFileSync(kubeconfig, JSON.stringify(anonymousKubeconfig(options.server, options.clusterName)), {
      mode: 0o600,
    });
    const where = ['--bus', nats.url, '--store', redis.url, '--partitions', String(partitions)];
    const count = new Map<Role, number>();
    const roles = processes.map((role) => {
      const n = (count.get(role) ?? 0) + 1;
      count.set(role, n);
      const cluster = role === 'reconciler' ? [] : ['--kubeconfig', kubeconfig];
      const args = [...where, ...cluster, '--metrics-bind-address', '127.0.0.1:0', ...options.flags];
      return new RoleProcess(`${role}-${n}`, role, args, options.onLine);
    });
    ended.push(async () => {
      // In the order in which changes flow, so that what is under way comes to its end.
      for (const role of ['watcher', 'reconciler', 'writer']) {
        await Promise.all(roles.filter(({ name }) => name.startsWith(role)).map((process) => process.stop()));
      }
    });
    return {
      about: [
        `NATS at ${nats.url}, Redis at ${redis.url}`,
        `Processes: ${roles.map(({ name, child }) => `${name} (${child.pid})`).join(', ')}`,
      ],
      failed: Promise.race(roles.map(async ({ name, ended }) => `${name} ended: ${await ended}`)),
      stop: close,
    };
  } catch (error) {
    await close();
    if (error instanceof LocalError) throw new UsageError(`--distributed: ${error.message}`, { cause: error });
    throw error;
  }
}

async function startServers(directory: string, ended: (() => unknown)[]): Promise<[Nats, RedisServer]> {
  const redis = await startRedis({ directory: join(directory, 'redis') });
  ended.push(() => redis.stop());
  const nats = await startNats({ directory: join(directory, 'nats') });
  ended.push(() => nats.stop());
  return [nats, redis];
}

function anonymousKubeconfig(server: string, name: string) {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [{ name, cluster: { server } }],
    users: [{ name, user: {} }],
  };
}
