import { type Bus, recordId } from '@sluice/bus';
import { type ClusterRemoved, encodeMessage } from '@sluice/messages';
import type { Clock } from '@sluice/platform';
import type { Store } from '@sluice/store';
import { publishedStateScope } from './published-state.ts';

interface RemoveClusterOptions {
  /** Identity of the cluster. */
  readonly cluster: string;
  /** Fencing token of the cluster's last lease. */
  readonly fencingToken: number;
  readonly bus: Bus;
  /** The watcher's store, if it had one. */
  readonly store?: Store | undefined;
  readonly clock: Clock;
}

/**
 * Announces to every reconciler that a cluster is no longer served, and deletes the cluster's published state. If the
 * cluster is added again, it is published from scratch. Throws FencedError if a newer watcher has taken over.
 */
export async function removeCluster({ store, ...options }: RemoveClusterOptions): Promise<void> {
  const { cluster, fencingToken } = options;
  if (store !== undefined) await deletePublishedState(store, publishedStateScope(cluster), fencingToken);
  await announceRemoval(options);
}

/**
 * Has every reconciler discard what it knows of the cluster. `after` is the sequence of the last Change that was published
 * under the fencing token, so that the bus drops no later announcement as a duplicate.
 */
export async function announceRemoval({
  cluster,
  fencingToken,
  bus,
  clock,
  after,
}: Omit<RemoveClusterOptions, 'store'> & { readonly after?: number }): Promise<void> {
  const message: ClusterRemoved = { kind: 'clusterRemoved', cluster, epoch: fencingToken, removedAt: clock.now() };
  const payload = encodeMessage(message);
  for (let partition = 0; partition < bus.partitions; partition++) {
    const id = recordId(cluster, fencingToken, `removed${after === undefined ? '' : `-${after}`}`, partition);
    await bus.append('changes', partition, [{ key: cluster, id, headers: {}, payload }]);
  }
}

async function deletePublishedState(store: Store, scope: string, fencingToken: number): Promise<void> {
  const { checkpoint, entries } = await store.claim(scope, fencingToken);
  if (checkpoint === null || entries.length === 0) return;
  await store.commit({
    scope,
    fencingToken,
    expectedOffset: checkpoint.offset,
    checkpoint,
    entries: entries.map(({ key, field }) => ({ key, field, value: undefined })),
  });
}
