import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UsageError } from '@sluice/platform/process';
import { count, oneOf, parseCommandLine } from '@sluice/program';
import { programIn } from './fleet/program-in.ts';
import { type FleetKind, fleets } from './schedule.ts';

export interface Options {
  readonly actions: number;
  /** Perform only freezes of lease owners instead of all kinds of actions. */
  readonly freezesOnly: boolean;
  readonly seed: number;
  readonly bus: 'nats' | 'kafka';
  readonly processes: FleetKind;
  readonly clusters: number;
  /** With several, all streams have three replicas. */
  readonly natsNodes: 1 | 3;
  /** A master and a replica of Redis with three sentinels instead of one Redis. */
  readonly sentinel: boolean;
  /** Changes per second in all clusters together. */
  readonly rate: number;
  readonly partitions: number;
  /** Average time between two actions. */
  readonly pauseMs: number;
  /** Checkout of another version, from which every second process starts. If undefined, all run this version. */
  readonly upgradeFrom: string | undefined;
  readonly output: 'table' | 'json';
  /**
   * Directory for logs, plans and the audit log. If undefined, a temporary one that is deleted after a run without
   * violations.
   */
  readonly directory: string | undefined;
}

export const HELP = `usage: npm run chaos -- [options]

Starts clusters, each a real kube-apiserver and etcd with an audit log, NATS or Kafka, Redis, and a fleet of processes.
While Services, Pods, Nodes and Endpoints change, it kills, freezes and restarts
processes and servers, blocks one direction of their connections, steps their clocks, fills disks and lets bus and store
lose data, at random. After every 50 actions and at the end, the fleet must converge to the correct objects, and every write
in an audit log must be a planned mutation for that cluster, applied once and in order.

  --actions N        number of actions (50)
  --freezes N        only freeze processes of the fleet, N times for 4 s, instead of --actions
  --seed N           seed of actions and changes; the same seed repeats the run (default: random, printed at the end)
  --bus NAME         nats or kafka (nats)
  --processes KIND   roles: 2 watchers, 3 reconcilers and 2 writers; workers: 3 workers; mixed: 2 workers and a process of each
                     role (roles)
  --clusters N       number of clusters (2)
  --nats-nodes N     1 or 3 NATS servers; 3 replicate all streams (1)
  --sentinel         Redis with a replica and three sentinels
  --rate N           changes per second in all clusters together (50)
  --partitions N     partitions of the bus (16)
  --pause MS         average time between actions, varied by 25 %; an outage lasts up to 4 s (1500; with --freezes: 2750)
  --upgrade-from DIR run two versions at once: every second process starts from DIR, a checkout of another commit with its
                     packages installed, and more actions replace a process by one of the other version
  --output FORMAT    table or json, on standard output (table)
  --directory DIR    keep logs, plans and the audit log in DIR (default: keep them only after violations)
  --help             print this help

Disks are filled only if the user may mount a file system.

Exit status: 0 if everything is correct, 1 if there are violations, 2 if the run failed to start.
`;

const defaults = {
  actions: undefined,
  freezes: undefined,
  seed: undefined,
  bus: 'nats',
  processes: 'roles',
  clusters: '2',
  'nats-nodes': '1',
  sentinel: false,
  rate: '50',
  partitions: '16',
  pause: undefined,
  'upgrade-from': undefined,
  output: 'table',
  directory: undefined,
} as const;

/**
 * Returns `help` if the help text is requested.
 *
 * @throws UsageError
 */
export function parseOptions(args: readonly string[], chooseSeed: () => number): Options | 'help' {
  const line = parseCommandLine({ options: defaults }, args);
  if (line === 'help') return 'help';
  const { options: values } = line;
  if (values.actions !== undefined && values.freezes !== undefined) {
    throw new UsageError('--actions and --freezes are mutually exclusive');
  }
  const bus = oneOf('bus', values.bus, ['nats', 'kafka']);
  const natsNodes = oneOf('nats-nodes', values['nats-nodes'], ['1', '3']) === '3' ? 3 : 1;
  if (bus === 'kafka' && natsNodes > 1) throw new UsageError('--nats-nodes requires --bus nats');
  return {
    actions: count('actions', values.freezes ?? values.actions ?? '50'),
    freezesOnly: values.freezes !== undefined,
    seed: values.seed === undefined ? chooseSeed() : count('seed', values.seed),
    bus,
    processes: oneOf('processes', values.processes, Object.keys(fleets) as FleetKind[]),
    clusters: count('clusters', values.clusters),
    natsNodes,
    sentinel: values.sentinel,
    rate: count('rate', values.rate),
    partitions: count('partitions', values.partitions),
    pauseMs: count('pause', values.pause ?? defaultPause(values.freezes !== undefined)),
    upgradeFrom: values['upgrade-from'] === undefined ? undefined : checkout(values['upgrade-from']),
    output: oneOf('output', values.output, ['table', 'json']),
    directory: values.directory,
  };
}

function checkout(directory: string): string {
  for (const path of [programIn(directory), join(directory, 'node_modules')]) {
    if (existsSync(path)) continue;
    throw new UsageError(
      `--upgrade-from: ${path} does not exist; pass a checkout of Sluice whose packages are installed, as "git worktree add --detach DIR COMMIT" and "DIR/bin/sluice --version" make one`,
    );
  }
  return resolve(directory);
}

const defaultPause = (freezesOnly: boolean): string => (freezesOnly ? '2750' : '1500');

/** The command that repeats the run. */
export function commandOf(options: Options): string {
  const { actions, freezesOnly, seed, bus, processes, clusters } = options;
  const { natsNodes, sentinel, rate, partitions, pauseMs, upgradeFrom } = options;
  const more = [
    ...(bus === 'nats' ? [] : ['--bus', bus]),
    ...(processes === 'roles' ? [] : ['--processes', processes]),
    ...(clusters === 2 ? [] : ['--clusters', clusters]),
    ...(natsNodes === 1 ? [] : ['--nats-nodes', natsNodes]),
    ...(sentinel ? ['--sentinel'] : []),
    ...(rate === 50 ? [] : ['--rate', rate]),
    ...(partitions === 16 ? [] : ['--partitions', partitions]),
    ...(String(pauseMs) === defaultPause(freezesOnly) ? [] : ['--pause', pauseMs]),
    ...(upgradeFrom === undefined ? [] : ['--upgrade-from', upgradeFrom]),
  ];
  return ['npm run chaos --', freezesOnly ? '--freezes' : '--actions', actions, '--seed', seed, ...more].join(' ');
}
