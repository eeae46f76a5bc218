import { type Compaction, compactSlices, descriptorOf } from '@sluice/controllers';
import { parseServiceKey, type ServiceKey } from '@sluice/messages';
import type { EndpointSlice, Service } from '@sluice/model';
import { managerOf } from '@sluice/service-state';
import type { Store } from '@sluice/store';

/** What a compaction of one Service would do. */
export interface FoundCompaction {
  readonly key: ServiceKey;
  /** Slices of the Service now. */
  readonly slices: number;
  readonly compaction: Compaction;
}

interface FindCompactionsOptions {
  readonly partitions: number;
  readonly maxEndpointsPerSlice: number;
  readonly matches: (key: ServiceKey) => boolean;
}

/** The content of a slice is stored in a part of its field. */
const sliceObject = /^slice\/.*:object$/;

/**
 * The Services of a fleet whose slices can be merged, those first that lose most slices per write. Reads the states of
 * the reconcilers in the store without a lease.
 */
export async function findCompactions(
  store: Store,
  options: FindCompactionsOptions,
): Promise<readonly FoundCompaction[]> {
  const found: FoundCompaction[] = [];
  for (let partition = 0; partition < options.partitions; partition++)
    found.push(...(await findInPartition(store, partition, options)));
  const perWrite = ({ compaction: { removed, writes } }: FoundCompaction) => removed / writes;
  return found.sort((a, b) => perWrite(b) - perWrite(a));
}

async function findInPartition(
  store: Store,
  partition: number,
  { maxEndpointsPerSlice, matches }: FindCompactionsOptions,
): Promise<readonly FoundCompaction[]> {
  const scope = `reconciler/${partition}`;
  const slices = new Map<string, EndpointSlice[]>();
  for (const { key, field, value } of await store.find(scope, 'slice/')) {
    if (!sliceObject.test(field) || !matches(parseServiceKey(key))) continue;
    const slice = value as EndpointSlice;
    const manager = managerOf(slice);
    if (manager === undefined || !descriptorOf(manager).compacts) continue;
    const known = slices.get(key);
    if (known === undefined) slices.set(key, [slice]);
    else known.push(slice);
  }
  const found: FoundCompaction[] = [];
  for (const { key, value } of await store.find(scope, 'service')) {
    const { service } = value as { readonly service: Service | null };
    const own = slices.get(key);
    if (service === null || own === undefined) continue;
    const maxWrites = Number.POSITIVE_INFINITY;
    const compaction = compactSlices({ service, slices: own, maxEndpointsPerSlice, maxWrites });
    if (compaction.writes > 0) found.push({ key: parseServiceKey(key), slices: own.length, compaction });
  }
  return found;
}
