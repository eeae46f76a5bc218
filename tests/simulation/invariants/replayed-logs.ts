import type { Delivery } from '@sluice/bus';
import { compareStamps, formatServiceKey, isServiceKey, type PlannedMutations } from '@sluice/messages';
import { loadState, replayLog, type ServiceMessage, type Settings, type StoredField } from '@sluice/service-state';
import { isDeletion, stateDifferences } from '../../harness/state-differences.ts';
import type { SimulatedBus } from '../doubles/simulated-bus.ts';
import type { SimulatedStore } from '../doubles/simulated-store.ts';
import type { Violations } from '../violations.ts';
import { decode } from './decode.ts';

interface ReplayedLogsOptions {
  readonly log: SimulatedBus;
  readonly store: () => SimulatedStore;
  readonly partitions: number;
  /** Whether processes apply their own records before the log has them. */
  readonly isWorker: boolean;
  readonly settings: Settings;
  readonly violations: Violations;
}

/** Replaying the log of each Service from its beginning gives the stored state. */
export class ReplayedLogs {
  readonly #options: ReplayedLogsOptions;
  /** Records that a worker has applied before the log had them. */
  readonly #early: Delivery[] = [];

  constructor(options: ReplayedLogsOptions) {
    this.#options = options;
  }

  deliveredLocally(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) if (delivery.isEarly) this.#early.push(delivery);
  }

  /** Call this once everything is committed. */
  check(): void {
    const { log, store, partitions, isWorker, settings, violations } = this.#options;
    const isResynced = resynced(log);
    for (let partition = 0; partition < partitions; partition++) {
      const changes = recordsOf(log, 'changes', partition);
      const mutations = recordsOf(log, 'mutations', partition);
      for (const [key, fields] of storedFields(store(), partition)) {
        const stored = loadState(key, fields);
        const records = changes.get(key) ?? [];
        const messages = records.map(({ payload }) => decode(payload) as ServiceMessage);
        const plans = (mutations.get(key) ?? []).map(({ payload }) => decode(payload) as PlannedMutations);
        // The last Changes have not been read yet.
        const read = messages.filter(
          (message) => message.kind !== 'change' || compareStamps(message.stamp, stored.snapshot.stamp) <= 0,
        );
        const replayed = replayLog(stored.key, { changes: read, mutations: plans }, settings);
        const undetermined = { wasGone: messages.some(isDeletion), isWorker };
        const different = stateDifferences(stored, replayed, undetermined);
        if (different.length === 0 || isResynced(partition, key) || !this.#isComplete(key, records)) continue;
        violations.report('the log gives the state', `${key}: ${different.join('; ')}`);
      }
    }
  }

  /** A worker that fails to append an Outcome applies the plan again. One that ends takes Changes with it that it has applied. */
  #isComplete(key: string, records: readonly Delivery[]): boolean {
    const logged = new Map(records.map(({ id, payload }) => [id, payload]));
    return this.#early.every(({ id, key: of, payload }) => {
      if (of !== key) return true;
      const known = logged.get(id);
      return known !== undefined && Buffer.compare(known, payload) === 0;
    });
  }
}

/** Whether a reconciler has requested a resync of the Service after its start: it then drops what the log does not say. */
function resynced(log: SimulatedBus): (partition: number, key: string) => boolean {
  const scopes = (log.log('requests', 0).appended ?? []).flatMap(({ payload }) => {
    const request = decode(payload);
    return request.kind === 'resync' && request.reason !== 'no committed offset' ? [request.scope] : [];
  });
  const keys = new Set(scopes.flatMap((scope) => ('key' in scope ? [formatServiceKey(scope.key)] : [])));
  const partitions = new Set(scopes.flatMap((scope) => ('partition' in scope ? [scope.partition] : [])));
  return (partition, key) => keys.has(key) || partitions.has(partition);
}

function recordsOf(log: SimulatedBus, topic: 'changes' | 'mutations', partition: number): Map<string, Delivery[]> {
  const byKey = new Map<string, Delivery[]>();
  for (const record of log.log(topic, partition).appended ?? []) {
    const records = byKey.get(record.key) ?? [];
    records.push(record);
    byKey.set(record.key, records);
  }
  return byKey;
}

function storedFields(store: SimulatedStore, partition: number): Map<string, StoredField[]> {
  const byKey = new Map<string, StoredField[]>();
  for (const [name, json] of store.entries(`reconciler/${partition}`)) {
    const [key = '', field = ''] = name.split('\n');
    if (!isServiceKey(key)) continue;
    const fields = byKey.get(key) ?? [];
    fields.push({ key, field, value: JSON.parse(json) });
    byKey.set(key, fields);
  }
  return byKey;
}
