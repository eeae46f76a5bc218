import { chainWriter } from '@sluice/kubernetes';
import type { ClusterWork } from '@sluice/preflight';
import type { Clock, Logger } from '@sluice/runtime';
import { ClusterClaim, type FleetIdentity } from './cluster-claim.ts';
import type { ConnectedCluster } from './connected-cluster.ts';
import { watchCompetingController } from './watch-competing-controller.ts';
import { WriteGate } from './write-gate.ts';

export interface GuardOptions {
  /** Without `write`, nothing is claimed or guarded. Default: all. */
  readonly work?: readonly ClusterWork[];
  /** Ignores competing controllers and missing permissions for the claim. */
  readonly takeOver?: boolean | undefined;
  /** The fleet that claims the cluster before it writes (ADR 0054). Default: the cluster is not claimed. */
  readonly fleet?: FleetIdentity | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Shorter than the grace period of connections: an API server that does not answer must not delay the exit. */
const releaseTimeoutMs = 1_000;

/**
 * Claims the cluster for the fleet, and from then on pauses writes while another fleet or controller may write the same
 * objects. The returned cluster releases the claim when it is closed. Only a cluster that is about to be served is claimed:
 * other connections of this process to it must not touch its claim.
 *
 * @throws ClusterUnavailableError if another fleet serves the cluster; the connection stays open
 */
export async function guardWrites(
  cluster: ConnectedCluster,
  { work, takeOver, fleet, clock, logger }: GuardOptions,
  signal: AbortSignal,
): Promise<ConnectedCluster> {
  if (work?.includes('write') === false) return cluster;
  const { name, connection, namespaces } = cluster;
  const gate = new WriteGate();
  const guard = { cluster: name, connection, namespaces, takeOver, gate, clock, logger };
  const claim = fleet && new ClusterClaim({ ...guard, fleet });
  await claim?.acquire(signal);
  const closed = new AbortController();
  const running = [...(takeOver ? [] : [watchCompetingController(guard, closed.signal)]), claim?.keep(closed.signal)];
  const done = Promise.all(running).catch((error: unknown) => {
    if (!closed.signal.aborted) logger.error('write guard failed', { cluster: name, error });
  });
  return {
    ...cluster,
    writer: chainWriter(cluster.writer, ...(claim === undefined ? [] : [claim.middleware]), gate.middleware),
    writesPausedBecause: () => gate.pausedBecause,
    async close() {
      closed.abort();
      await done;
      if (fleet?.releases) await claim?.release(AbortSignal.timeout(releaseTimeoutMs));
      await cluster.close();
    },
  };
}
