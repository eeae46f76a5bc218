import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openInfrastructure } from '@sluice/backends';
import { kubeconfigOf } from '@sluice/fake-apiserver';
import { freePorts, LocalError } from '@sluice/local';
import type { Outcome, PlannedMutations } from '@sluice/messages';
import {
  closing,
  defaultBindAddress,
  formatBindAddress,
  marginMs,
  type ShutdownStep,
  shutDown,
  UsageError,
} from '@sluice/process';
import type { Clock, Logger, Random } from '@sluice/runtime';
import type { DistributedBus } from './distributed-bus.ts';
import { followPlans } from './follow-plans.ts';
import { type Role, RoleProcess } from './role-process.ts';
import { startServers } from './start-servers.ts';

export interface DistributedOptions {
  readonly bus: DistributedBus;
  /** Arguments of Node for each role: its options and the program. Default: the sources. */
  readonly program?: readonly string[];
  /** URL of the cluster's API server, which needs no credentials. */
  readonly server: string;
  readonly clusterName: string;
  /** Additional flags for the roles, without the console. */
  readonly flags: readonly string[];
  readonly consoleFlags: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly onOutcome: (plan: PlannedMutations, outcome: Outcome) => void;
  /** Called for each line that a role writes to standard error. */
  readonly onLine: (process: string, line: string) => void;
}

export interface Distributed {
  readonly about: readonly string[];
  /** Resolves with the reason if a role exits unexpectedly. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

/** Two of each, so that work is shared and can be handed over. */
const processes: readonly Role[] = ['watcher', 'watcher', 'reconciler', 'reconciler', 'writer', 'writer'];

const partitions = 16;

/** Longer than a role's own grace period. A role that takes longer is killed when this process exits. */
const roleGraceMs = 20_000;

/**
 * Starts bus and store on loopback, and the roles of a fleet as processes that use them. All of them stop with this process.
 *
 * @throws UsageError if a server cannot be started, for example because Java is missing
 */
export async function startDistributed(options: DistributedOptions): Promise<Distributed> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-distributed-'));
  const removal = () => rmSync(directory, { recursive: true, force: true });
  const steps: ShutdownStep[] = [{ component: `directory ${directory}`, graceMs: marginMs, stop: removal }];
  const close = () => shutDown(steps.toReversed(), options);
  try {
    const { bus, clock, random, logger } = options;
    const servers = await startServers({ bus, directory, partitions, logger }, steps);
    const infrastructure = await openInfrastructure(servers.configuration, { clock, random, logger });
    const following = new AbortController();
    const followed = followPlans(infrastructure.bus, options.onOutcome, following.signal);
    const unfollow = async () => {
      following.abort();
      await followed.catch(() => {});
    };
    steps.push(closing(infrastructure), { component: 'plan follower', graceMs: marginMs, stop: unfollow });
    const kubeconfig = join(directory, 'kubeconfig.json');
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(options.server, options.clusterName)), {
      mode: 0o600,
    });
    const count = new Map<Role, number>();
    const roles = processes.map((role): RoleProcess => {
      const n = (count.get(role) ?? 0) + 1;
      count.set(role, n);
      const cluster = role === 'reconciler' ? [] : ['--kubeconfig', kubeconfig, '--cluster-name', options.clusterName];
      const args = [...servers.flags, ...cluster, '--metrics-bind-address', '127.0.0.1:0', ...options.flags];
      return new RoleProcess(`${role}-${n}`, role, args, options.onLine, options.program);
    });
    const consoleAddress = await freeAddress();
    const page = ['--console-bind-address', consoleAddress, ...options.consoleFlags];
    const consoleArgs = [...servers.flags, ...page, '--log-level', 'warn'];
    roles.push(new RoleProcess('console', 'console', consoleArgs, options.onLine, options.program));
    // Endings run in reverse order. Roles stop in the direction of the data flow, so that work in flight is completed.
    for (const role of ['console', 'writer', 'reconciler', 'watcher']) {
      const ofRole = roles.filter(({ name }) => name.startsWith(role));
      const end = () => Promise.all(ofRole.map((process) => process.stop()));
      steps.push({ component: `${role} processes`, graceMs: roleGraceMs, stop: end });
    }
    return {
      about: [
        `Console: http://${consoleAddress}`,
        servers.about,
        `Processes: ${roles.map(({ name, child }) => `${name} (${child.pid})`).join(', ')}`,
      ],
      failed: Promise.race(roles.map(async ({ name, ended }) => `${name} exited: ${await ended}`)),
      stop: close,
    };
  } catch (error) {
    await close();
    if (error instanceof LocalError) throw new UsageError(`--distributed: ${error.message}`, { cause: error });
    throw error;
  }
}

/** The default address of the console, or another port if it is taken. */
async function freeAddress(): Promise<string> {
  const probe = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(defaultBindAddress.port, defaultBindAddress.host, () => probe.close(() => resolve(true)));
  });
  const [port = 0] = isFree ? [defaultBindAddress.port] : await freePorts(1);
  return formatBindAddress({ ...defaultBindAddress, port });
}
