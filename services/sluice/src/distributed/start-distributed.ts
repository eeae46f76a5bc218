import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeconfigOf } from '@sluice/fake-apiserver';
import { freePorts, LocalError, type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import type { Outcome, PlannedMutations } from '@sluice/messages';
import type { Clock, Logger, Random } from '@sluice/runtime';
import { openInfrastructure } from '../roles/open-infrastructure.ts';
import type { Role } from '../roles/start-role.ts';
import { closing, type Ending, graceMs, marginMs, shutDown } from '../shut-down.ts';
import { defaultBindAddress, formatBindAddress } from '../telemetry/bind-address.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { followPlans } from './follow-plans.ts';
import { RoleProcess } from './role-process.ts';

export interface DistributedOptions {
  /** What Node runs for each role, after Node's own options. Default: the sources. */
  readonly program?: readonly string[];
  /** Of the cluster, without credentials. */
  readonly server: string;
  readonly clusterName: string;
  /** Further flags for every role but the console, and for that. */
  readonly flags: readonly string[];
  readonly consoleFlags: readonly string[];
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

/** More than a role gives itself, in milliseconds. One that takes longer is killed when this process ends. */
const roleGraceMs = 20_000;

/**
 * NATS and Redis of this machine's own, and the roles of a fleet as processes on them, all on loopback and gone with this
 * process.
 */
export async function startDistributed(options: DistributedOptions): Promise<Distributed> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-distributed-'));
  const removal = () => rmSync(directory, { recursive: true, force: true });
  const endings: Ending[] = [{ what: `the directory ${directory}`, graceMs: marginMs, end: removal }];
  const close = () => shutDown(endings.toReversed(), options);
  try {
    const [nats, redis] = await startServers(directory, endings);
    const ports = { clock: options.clock, random: options.random, logger: options.logger };
    const bus = { kind: 'nats', servers: [nats.url] } as const;
    const store = { kind: 'redis', urls: [redis.url] } as const;
    const infrastructure = await openInfrastructure({ fleet: 'sluice', partitions, bus, store }, ports);
    const following = new AbortController();
    const followed = followPlans(infrastructure.bus, options.onOutcome, following.signal);
    const unfollow = async () => {
      following.abort();
      await followed.catch(() => {});
    };
    endings.push(closing(infrastructure), { what: 'following the plans', graceMs: marginMs, end: unfollow });
    const kubeconfig = join(directory, 'kubeconfig.json');
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(options.server, options.clusterName)), {
      mode: 0o600,
    });
    const where = ['--bus', nats.url, '--store', redis.url, '--partitions', String(partitions)];
    const count = new Map<Role, number>();
    const roles = processes.map((role): RoleProcess => {
      const n = (count.get(role) ?? 0) + 1;
      count.set(role, n);
      const cluster = role === 'reconciler' ? [] : ['--kubeconfig', kubeconfig, '--cluster-name', options.clusterName];
      const args = [...where, ...cluster, '--metrics-bind-address', '127.0.0.1:0', ...options.flags];
      return new RoleProcess(`${role}-${n}`, role, args, options.onLine, options.program);
    });
    const consoleAddress = await freeAddress();
    const page = ['--console-bind-address', consoleAddress, ...options.consoleFlags];
    const consoleArgs = [...where, ...page, '--log-level', 'warn'];
    roles.push(new RoleProcess('console', 'console', consoleArgs, options.onLine, options.program));
    // The last is ended first: in the order in which changes flow, so that what is under way comes to its end.
    for (const role of ['console', 'writer', 'reconciler', 'watcher']) {
      const ofRole = roles.filter(({ name }) => name.startsWith(role));
      const end = () => Promise.all(ofRole.map((process) => process.stop()));
      endings.push({ what: `the processes of role ${role}`, graceMs: roleGraceMs, end });
    }
    return {
      about: [
        `Look at it: http://${consoleAddress}`,
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

/** The address that people and commands know, or another if somebody has it. */
async function freeAddress(): Promise<string> {
  const probe = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(defaultBindAddress.port, defaultBindAddress.host, () => probe.close(() => resolve(true)));
  });
  const [port = 0] = isFree ? [defaultBindAddress.port] : await freePorts(1);
  return formatBindAddress({ ...defaultBindAddress, port });
}

async function startServers(directory: string, endings: Ending[]): Promise<[Nats, RedisServer]> {
  const redis = await startRedis({ directory: join(directory, 'redis') });
  endings.push({ what: 'Redis', graceMs, end: () => redis.stop() });
  const nats = await startNats({ directory: join(directory, 'nats') });
  endings.push({ what: 'NATS', graceMs, end: () => nats.stop() });
  return [nats, redis];
}
