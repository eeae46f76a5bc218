import { UsageError } from '@sluice/platform/process';
import type { Command } from 'commander';
import { durationFlag } from './settings-options.ts';

/** As in client-go, in milliseconds. */
export interface LeaderElectionConfiguration {
  /** How long a standby waits after the last renewal that it saw before it takes over. */
  readonly leaseDurationMs: number;
  /** How long the leader works after its last renewal. */
  readonly renewDeadlineMs: number;
  /** Time between renewals. */
  readonly retryPeriodMs: number;
  readonly resourceName: string;
  readonly resourceNamespace: string;
}

/** Flags with the names and defaults of kube-controller-manager. */
export interface LeaderElectionOptions {
  readonly leaderElect?: boolean;
  readonly leaderElectLeaseDuration?: number;
  readonly leaderElectRenewDeadline?: number;
  readonly leaderElectRetryPeriod?: number;
  readonly leaderElectResourceName?: string;
  readonly leaderElectResourceNamespace?: string;
}

/**
 * The default Lease: instances that serve only listed namespaces elect a leader of their own, because they run beside
 * one that serves the others.
 */
export const leaderElectionLease = {
  namespace: 'kube-system',
  all: 'sluice-leader',
  listed: 'sluice-namespaces-leader',
} as const;

export function addLeaderElectionOptions(command: Command): Command {
  return command
    .optionsGroup('Leader election:')
    .option('--leader-elect', 'elect a leader among processes with this flag; the others stand by')
    .option(
      '--leader-elect-lease-duration <duration>',
      'how long the others wait after the last renewal before one takes over, in whole seconds (default 15s)',
      durationFlag,
    )
    .option(
      '--leader-elect-renew-deadline <duration>',
      'how long the leader retries a renewal before it stops (default 10s)',
      durationFlag,
    )
    .option('--leader-elect-retry-period <duration>', 'time between renewals (default 2s)', durationFlag)
    .option(
      '--leader-elect-resource-name <name>',
      `name of the Lease (default ${leaderElectionLease.all}; with --namespaces ${leaderElectionLease.listed})`,
    )
    .option('--leader-elect-resource-namespace <name>', 'namespace of the Lease (default kube-system)');
}

/** Jitter of client-go: a renewal must fit between two attempts. */
const jitterFactor = 1.2;
const dnsName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * The leader election that the flags select; undefined without `--leader-elect`.
 *
 * @throws UsageError for values that client-go rejects
 */
export function toLeaderElection(
  options: LeaderElectionOptions & { readonly namespaces?: readonly string[] | undefined },
): LeaderElectionConfiguration | undefined {
  if (!options.leaderElect) {
    const given = Object.entries(options).find(([name, value]) => /^leaderElect./.test(name) && value !== undefined);
    if (given !== undefined) throw new UsageError('flags --leader-elect-... require --leader-elect');
    return undefined;
  }
  const leaseDurationMs = options.leaderElectLeaseDuration ?? 15_000;
  const renewDeadlineMs = options.leaderElectRenewDeadline ?? 10_000;
  const retryPeriodMs = options.leaderElectRetryPeriod ?? 2_000;
  if (leaseDurationMs < 1_000 || leaseDurationMs % 1_000 !== 0)
    throw new UsageError('--leader-elect-lease-duration must be whole seconds, at least 1s');
  if (retryPeriodMs <= 0) throw new UsageError('--leader-elect-retry-period must be greater than 0');
  if (leaseDurationMs <= renewDeadlineMs)
    throw new UsageError('--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline');
  if (renewDeadlineMs <= retryPeriodMs * jitterFactor)
    throw new UsageError(
      `--leader-elect-renew-deadline must be greater than --leader-elect-retry-period × ${jitterFactor}`,
    );
  const resourceName =
    options.leaderElectResourceName ??
    (options.namespaces === undefined ? leaderElectionLease.all : leaderElectionLease.listed);
  const resourceNamespace = options.leaderElectResourceNamespace ?? leaderElectionLease.namespace;
  for (const [flag, name] of [
    ['--leader-elect-resource-name', resourceName],
    ['--leader-elect-resource-namespace', resourceNamespace],
  ]) {
    if (!dnsName.test(name ?? '')) throw new UsageError(`${flag} "${name}" is not a valid Kubernetes name`);
  }
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs, resourceName, resourceNamespace };
}
