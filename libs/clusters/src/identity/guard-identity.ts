import { chainReader, chainWriter, IdentityGuard } from '@sluice/kubernetes';
import type { Clock } from '@sluice/runtime';
import type { ConnectedCluster } from '../connected-cluster.ts';

/** Sends requests only while the same cluster answers at its address. `onReplaced` is called with the identity of another. */
export function guardIdentity(
  cluster: ConnectedCluster,
  { clock, onReplaced }: { readonly clock: Clock; readonly onReplaced: (identity: string) => void },
): ConnectedCluster {
  const { identity, reader, writer } = cluster;
  const { middleware } = new IdentityGuard({ identity, cluster: reader, clock, onReplaced });
  return { ...cluster, reader: chainReader(reader, middleware), writer: chainWriter(writer, middleware) };
}
