import { type ClusterAccess, Connection, isApiError, leasePath } from '@sluice/kubernetes';
import { type Check, checkOn } from '@sluice/kubernetes/preflight';
import type { Controller } from '@sluice/model';
import { asRecord, type Clock, type Logger, type Random } from '@sluice/platform';
import { userAgent } from '@sluice/platform/process';
import { leaderElectionLease } from '../configuration/index.ts';
import { claimOf, claimPath } from '../leader-election/claim-lease.ts';
import { distributionOf } from './distribution.ts';
import { assessMigration, type Migration, type MigrationFacts } from './migration-stage.ts';

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface CheckedMigration {
  readonly cluster: string;
  /** Those of `sluice doctor`, except for other controllers, which are what the migration is about. */
  readonly checks: readonly Check[];
  readonly distribution?: string;
  /** Absent if the cluster does not say enough; a check says why. */
  readonly migration?: Migration;
}

/** Held by the process of `sluice run --leader-elect` that leads or waits for kube-controller-manager. */
const leaderLease = leasePath(leaderElectionLease.namespace, leaderElectionLease.all).lease;

interface MigrationQuestion extends Pick<MigrationFacts, 'direction' | 'clusterFlags'> {
  /** The controllers that Sluice runs. */
  readonly controllers: ReadonlySet<Controller>;
}

/** Checks how far the migration of a cluster is. Sends only reads and access reviews. */
export async function checkMigration(
  name: string,
  access: ClusterAccess,
  { direction, clusterFlags, controllers }: MigrationQuestion,
  ports: Ports,
): Promise<CheckedMigration> {
  const connection = new Connection({ access, userAgent: userAgent('doctor'), timeoutMs: 10_000, ...ports });
  try {
    const { checks, evidence } = await checkOn(connection, name, ports, { controllers });
    const own = checks.filter(({ check }) => check !== 'other controllers');
    if (evidence === undefined) return { cluster: name, checks };
    const [node, isClaimed, hasStandby] = await Promise.all([
      firstNode(connection),
      isHeld(connection, claimPath(undefined).lease, evidence.now),
      isHeld(connection, leaderLease, evidence.now),
    ]);
    const distribution = distributionOf(node, evidence.pods.length > 0);
    const facts = { evidence, distribution, isClaimed, hasStandby, direction, clusterFlags };
    return { cluster: name, distribution: distribution.name, checks: own, migration: assessMigration(facts) };
  } finally {
    await connection.destroy();
  }
}

async function firstNode(connection: Connection): Promise<unknown> {
  const body = await read(connection, '/api/v1/nodes?limit=1');
  const { items } = asRecord(body);
  return Array.isArray(items) ? items[0] : undefined;
}

async function isHeld(connection: Connection, path: string, now: number): Promise<boolean> {
  const { holder, expiresAt } = claimOf(asRecord(await read(connection, path)));
  return holder !== '' && expiresAt >= now;
}

/** Undefined if it does not exist or may not be read. */
async function read(connection: Connection, path: string): Promise<unknown> {
  try {
    return (await connection.request({ method: 'GET', path, signal: AbortSignal.timeout(10_000) })).body;
  } catch (error) {
    if (isApiError(error) && (error.status === 403 || error.status === 404)) return undefined;
    throw error;
  }
}
