import { ClusterUnavailableError, type ClusterWork } from '@sluice/kubernetes/preflight';
import { aborted, type Clock, type Logger } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import type { ConnectedCluster, Leadership } from '../clusters/cluster.ts';
import { ClusterClaim, type FleetIdentity } from './cluster-claim.ts';
import type { LeaderElector } from './leader-elector.ts';
import { pauseForCompetingController, watchCompetingController } from './watch-competing-controller.ts';
import { WriteGate } from './write-gate.ts';
import { WritePermissions } from './write-permissions.ts';

export interface GuardOptions {
  /** Without `write`, nothing is claimed or guarded. Default: all. */
  readonly work?: readonly ClusterWork[];
  /** Ignores competing controllers and missing permissions for the claim. */
  readonly takeOver?: boolean | undefined;
  /** The fleet that claims the cluster before it writes (ADR 0054). Default: the cluster is not claimed. */
  readonly fleet?: FleetIdentity | undefined;
  /** The cluster is claimed once this process is the leader. It closes with the cluster. Default: no election. */
  readonly elector?: LeaderElector | undefined;
  /** Called when writes are permitted again that the API server did not permit. */
  readonly onPermitted?: ((cluster: ConnectedCluster) => void) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Shorter than the grace period of connections: an API server that does not answer must not delay the exit. */
const releaseTimeoutMs = 1_000;

/**
 * Claims the cluster for the fleet, and from then on checks that no other fleet or controller may write the same
 * objects. The returned cluster releases the claim when it is closed. Only a cluster that is about to be served is claimed:
 * other connections of this process to it must not touch its claim.
 *
 * @throws ClusterUnavailableError if another fleet serves the cluster; the connection stays open
 */
export async function guardWrites(
  cluster: ConnectedCluster,
  { work, takeOver, fleet, elector, onPermitted, clock, logger }: GuardOptions,
  signal: AbortSignal,
): Promise<ConnectedCluster> {
  if (work?.includes('write') === false) return cluster;
  const { name, connection, namespaces, controllers } = cluster;
  const gate = new WriteGate();
  const guard = { cluster: name, connection, namespaces, controllers, takeOver, gate, clock, logger };
  const isSameCluster = async (signal: AbortSignal) => (await cluster.reader.identity(signal)) === cluster.identity;
  const permission = new WritePermissions({ ...guard, onPermitted: () => onPermitted?.(cluster) });
  const claim = fleet && new ClusterClaim({ ...guard, fleet, isSameCluster });
  await elector?.check(signal);
  // With leader election, the process waits for its turn; without it, connecting has failed already.
  if (elector !== undefined && !takeOver) await pauseForCompetingController(guard, signal);
  const closed = new AbortController();
  /** This process is the leader and no other controller writes. */
  const elected = elector?.elected.then(() => gate.opened('competingController'));
  const claimed = elected === undefined ? claim?.acquire(signal) : elected.then(() => claim?.acquire(closed.signal));
  if (elector === undefined) await claimed;
  const keepClaim = async () => {
    // A standby that closes was never elected, or never had its turn.
    if (elected !== undefined) await Promise.race([elected, aborted(closed.signal)]);
    if (closed.signal.aborted) return;
    await claimed?.then(
      () => claim?.keep(closed.signal),
      () => {},
    );
  };
  const running = [
    ...(takeOver ? [] : [watchCompetingController(guard, closed.signal)]),
    ...[elector?.run(closed.signal), keepClaim(), permission.run(closed.signal)],
  ];
  // A former leader aborts what is in flight.
  elector?.lost.addEventListener('abort', () => void cluster.close(), { once: true });
  const done = Promise.all(running).catch((error: unknown) => {
    if (!closed.signal.aborted) logger.error('write guard failed', { cluster: name, error });
  });
  return {
    ...cluster,
    checks: { ...cluster.checks, ...(claim && { claim }), pause: permission },
    writesPausedBecause: () => gate.pausedBecause,
    ...(elector !== undefined && { leadership: leadershipOf(elector, claimed) }),
    async close() {
      closed.abort();
      await done;
      if (fleet?.releases) await claim?.release(releaseTimeoutMs);
      await cluster.close();
      // When nothing can be in flight anymore, the next leader may start.
      await elector?.close();
    },
  };
}

function leadershipOf(elector: LeaderElector, claimed: Promise<unknown> = elector.elected): Leadership {
  const started = claimed.catch((error: unknown) => {
    if (error instanceof ClusterUnavailableError) throw new UsageError(error.message, { cause: error });
    throw error;
  });
  const ended = started.then(() => aborted(elector.lost));
  ended.catch(() => {});
  return {
    started,
    ended,
    get isLeader() {
      return elector.isLeader;
    },
  };
}
