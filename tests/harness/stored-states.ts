import { isServiceKey } from '@sluice/messages';
import { loadState, type ServiceState, type StoredField } from '@sluice/service-state';
import type { Store } from '@sluice/store';

/** The states of all Services in a store, by formatted key. */
export async function storedStates(
  store: Pick<Store, 'find'>,
  partitions: number,
): Promise<ReadonlyMap<string, ServiceState>> {
  const scopes = Array.from({ length: partitions }, (_, partition) => store.find(`reconciler/${partition}`, ''));
  const entries = (await Promise.all(scopes)).flat().filter(({ key }) => isServiceKey(key));
  const fields = Map.groupBy(entries, ({ key }) => key);
  return new Map([...fields].map(([key, stored]) => [key, loadState(key, structuredClone(stored) as StoredField[])]));
}
