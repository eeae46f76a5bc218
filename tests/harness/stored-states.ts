import { isServiceKey } from '@sluice/messages';
import { loadState, type ServiceState, type StoredField } from '@sluice/service-state';
import type { MemoryStore } from '@sluice/store';
import { partitions } from './fleet.ts';

/** The states of all Services in a store, by formatted key. */
export function storedStates(store: MemoryStore): ReadonlyMap<string, ServiceState> {
  const fields = Map.groupBy(
    [...Array(partitions).keys()]
      .flatMap((partition) => store.peek(`reconciler/${partition}`).entries)
      .filter(({ key }) => isServiceKey(key)),
    ({ key }) => key,
  );
  return new Map([...fields].map(([key, stored]) => [key, loadState(key, structuredClone(stored) as StoredField[])]));
}
