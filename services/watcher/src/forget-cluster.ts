import type { Bus } from '@sluice/bus';
import { type ClusterRemoved, encodeMessage } from '@sluice/messages';
import type { Store } from '@sluice/store';
import { ledgerScope } from './ledger.ts';

export interface ForgetOptions {
  /** Identity of the cluster. */
  readonly cluster: string;
  /** Of the tenure, which has ended but for this. */
  readonly epoch: number;
  readonly bus: Bus;
  /** That of the watcher, if it had one. */
  readonly store?: Store | undefined;
}

/**
 * Tells the reconcilers to forget a cluster that is not to be served any more, and forgets what was told of it. Should it
 * come back, it is told from the beginning.
 */
export async function forgetCluster({ cluster, epoch, bus, store }: ForgetOptions): Promise<void> {
  if (store !== undefined) await forgetTold(store, ledgerScope(cluster), epoch);
  const message: ClusterRemoved = { kind: 'clusterRemoved', cluster, epoch };
  const payload = encodeMessage(message);
  for (let partition = 0; partition < bus.partitions; partition++) {
    const id = `${cluster}/${epoch}/forgotten/${partition}`;
    await bus.append('changes', partition, [{ key: cluster, id, headers: {}, payload }]);
  }
}

async function forgetTold(store: Store, scope: string, fencingToken: number): Promise<void> {
  const { checkpoint, entries } = await store.claim(scope, fencingToken);
  if (checkpoint === null || entries.length === 0) return;
  await store.commit({
    ...{ scope, fencingToken, expectedOffset: checkpoint.offset, checkpoint },
    entries: entries.map(({ key, field }) => ({ key, field, value: undefined })),
  });
}
