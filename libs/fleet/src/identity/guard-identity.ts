import { chainReader, IdentityGuard } from '@sluice/kubernetes';
import type { Clock } from '@sluice/platform';
import type { ConnectedCluster } from '../clusters/cluster.ts';

/** Reads, and permits writes, only while the same cluster answers at its address. `onReplaced` is called with the identity of another. */
export function guardIdentity(
  cluster: ConnectedCluster,
  { clock, onReplaced }: { readonly clock: Clock; readonly onReplaced: (identity: string) => void },
): ConnectedCluster {
  const { identity, reader, checks } = cluster;
  const guard = new IdentityGuard({ identity, cluster: reader, clock, onReplaced });
  return { ...cluster, reader: chainReader(reader, guard.middleware), checks: { ...checks, identity: guard } };
}
