import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeconfigOf } from '@sluice/fake-apiserver';
import { openInfrastructure } from '@sluice/fleet/roles';
import { LocalError } from '@sluice/local';
import type { Outcome, PlannedMutations } from '@sluice/messages';
import type { Clock, Logger, Random } from '@sluice/platform';
import { closing, marginMs, type ShutdownStep, shutDown, UsageError } from '@sluice/platform/process';
import { consoleLine, freeAddress } from './console-address.ts';
import type { DistributedBus } from './distributed-bus.ts';
import { followPlans } from './follow-plans.ts';
import { type Role, RoleProcess } from './role-process.ts';
import { startServers } from './start-servers.ts';
import { SupervisedProcess } from './supervised-process.ts';
import { type Takeover, TakeoverObserver } from './takeover-observer.ts';

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
  /** Called when other processes have taken over all leases of a process that exited. */
  readonly onTakeover?: (process: string, takeover: Takeover) => void;
}

export interface Distributed {
  readonly about: readonly string[];
  /** URL of the console. */
  readonly console: string;
  /** Name and PID of each running process. */
  readonly processes: readonly { readonly name: string; readonly pid: number | undefined }[];
  /** Resolves with the reason if a process cannot be replaced. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

/** Two of each, so that they share the work and take over from each other. */
const roleProcesses: readonly Role[] = ['watcher', 'watcher', 'reconciler', 'reconciler', 'writer', 'writer'];

const partitions = 16;

/** Longer than a role's own grace period. A role that takes longer is killed when this process exits. */
const roleGraceMs = 20_000;

/**
 * Starts bus and store on loopback, and the roles of a fleet as processes that use them. A process that exits is replaced.
 * All of them stop with this process.
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
    const kubeconfig = join(directory, 'kubeconfig.json');
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(options.server, options.clusterName)), {
      mode: 0o600,
    });
    const clusters = [{ name: options.clusterName, kubeconfig }];
    const servers = await startServers({ bus, directory, partitions, clusters, clock, random, logger }, steps);
    const infrastructure = await openInfrastructure(servers.configuration, { clock, random, logger });
    const following = new AbortController();
    const followed = followPlans(infrastructure.bus, options.onOutcome, following.signal);
    const unfollow = async () => {
      following.abort();
      await followed.catch(() => {});
    };
    steps.push(closing(infrastructure), { component: 'plan follower', graceMs: marginMs, stop: unfollow });
    const observer = new TakeoverObserver({
      leases: infrastructure.leases,
      groups: ['watcher', 'reconciler', 'writer'],
      clock,
    });
    const observing = new AbortController();
    const observed = observer.run(observing.signal);
    const stopObserver = () => {
      observing.abort();
      return observed;
    };
    steps.push({ component: 'take-over observer', graceMs: marginMs, stop: stopObserver });
    const processes: SupervisedProcess[] = [];
    const nameOf = (member: string) => processes.find(({ pid }) => isMemberOf(member, pid))?.name ?? member;
    const onExit = (name: string, pid: number) => {
      const report = (takeover: Takeover) => {
        const { leases, tookMs } = takeover;
        const by = takeover.holders.map(nameOf).sort().join(',');
        logger.info('take-over complete', { process: name, pid, leases, by, took: `${Math.round(tookMs)}ms` });
        options.onTakeover?.(name, takeover);
      };
      observer.exited((holder) => isMemberOf(holder, pid), report);
    };
    const supervise = (name: string, role: Role | 'console', args: readonly string[]) => {
      const start = () => new RoleProcess(name, role, args, options.onLine, options.program);
      const supervised = { name, start, onExit: (pid: number) => onExit(name, pid), clock, random, logger };
      processes.push(new SupervisedProcess(supervised));
    };
    const count = new Map<Role, number>();
    for (const role of roleProcesses) {
      const n = (count.get(role) ?? 0) + 1;
      count.set(role, n);
      const cluster = role === 'reconciler' ? [] : ['--kubeconfig', kubeconfig, '--cluster-name', options.clusterName];
      const args = [...servers.flags, ...cluster, '--metrics-bind-address', '127.0.0.1:0', ...options.flags];
      supervise(`${role}-${n}`, role, args);
    }
    const consoleAddress = await freeAddress();
    const page = ['--console-bind-address', consoleAddress, ...options.consoleFlags];
    supervise('console', 'console', [...servers.flags, ...page, '--log-level', 'warn']);
    // Steps run in reverse order. Roles stop in the direction of the data flow, so that work in flight is completed.
    for (const role of ['console', 'writer', 'reconciler', 'watcher']) {
      const ofRole = processes.filter(({ name }) => name.startsWith(role));
      const stop = () => Promise.all(ofRole.map((process) => process.stop()));
      steps.push({ component: `${role} processes`, graceMs: roleGraceMs, stop });
    }
    return {
      about: [
        consoleLine(consoleAddress),
        servers.about,
        `Inspect it: bin/sluice doctor --config ${servers.file} (also: clusters list, parked list, dead-letters list)`,
        `Processes: ${processes.map(({ name, pid }) => `${name} (${pid})`).join(', ')}`,
        'Kill one (kill -9 PID): the others take over, and a replacement starts.',
      ],
      console: `http://${consoleAddress}`,
      processes,
      failed: Promise.race(processes.map(({ failed }) => failed)),
      stop: close,
    };
  } catch (error) {
    await close();
    if (error instanceof LocalError) throw new UsageError(`--distributed: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Members are named `<role>-<host>-<PID>-<random>`. */
function isMemberOf(member: string, pid: number | undefined): boolean {
  return new RegExp(`-${pid}-[0-9a-f]+$`).test(member);
}
