import { assertNotRejected, type BusRecord } from '@sluice/bus';
import {
  comparePlans,
  decodeRecord,
  formatServiceKey,
  isPlanId,
  type PlanId,
  type PlannedMutations,
  type ServiceKey,
} from '@sluice/messages';
import { type Mutation, serviceNameLabel } from '@sluice/model';
import type { StoredEntry } from '@sluice/store';

const key = 'plans';
const field = 'completed';

/**
 * Fences plans: rejects a plan if it, or a newer one for the same work key (Service and controller), was completed.
 *
 * A partition's reconciler numbers all its plans in sequence and publishes them in that order, and a new owner has a
 * higher epoch. So up to the checkpoint one high-water mark suffices: a later record that is not newer was applied
 * before, was lost on its way, or comes from a former owner. Beyond the checkpoint, each work key has its own mark.
 *
 * It is one of the checks of `mayWrite`. A former owner of the writer's partition is also fenced by the token that the store checks at
 * each commit (PlanCheckpoint).
 */
export class PlanFence {
  #passed: PlanId = { epoch: 0, number: 0 };
  readonly #beyond = new Map<string, PlanId>();

  /** Returns false if the entries are unreadable. */
  load(entries: readonly StoredEntry[]): boolean {
    return entries.every((entry) => {
      if (entry.key !== key || entry.field !== field || !isPlanId(entry.value)) return false;
      this.#passed = entry.value;
      return true;
    });
  }

  /** Whether this plan or a newer one for its work key was completed. */
  rejects(workKey: string, plan: PlanId): boolean {
    const last = this.#beyond.get(workKey);
    return comparePlans(plan, this.#passed) <= 0 || (last !== undefined && comparePlans(plan, last) <= 0);
  }

  complete(workKey: string, plan: PlanId): void {
    const last = this.#beyond.get(workKey);
    // Plans that are returned to the reconciler do not wait for an older one that is being applied.
    if (last === undefined || comparePlans(plan, last) > 0) this.#beyond.set(workKey, plan);
  }

  /**
   * Raises the high-water mark to plans that the checkpoint is about to pass, which must be all plans up to it. Returns
   * the entries to store with the checkpoint.
   */
  advance(plans: readonly PlanId[]): StoredEntry[] {
    const before = this.#passed;
    for (const plan of plans) if (comparePlans(plan, this.#passed) > 0) this.#passed = plan;
    if (this.#passed === before) return [];
    for (const [workKey, plan] of this.#beyond) if (comparePlans(plan, this.#passed) <= 0) this.#beyond.delete(workKey);
    return [{ key, field, value: this.#passed }];
  }
}

/**
 * Whether every write of the plan carries a resourceVersion or UID, so that the API server rejects it if it was applied
 * before. A name is not enough: a created object may have been deleted since, and a deleted one created again.
 */
export function hasPreconditions({ groups }: PlannedMutations): boolean {
  return groups.every(({ mutations }) => mutations.every(hasPrecondition));
}

function hasPrecondition(mutation: Mutation): boolean {
  switch (mutation.verb) {
    case 'create':
      return false;
    case 'update':
      return (mutation.object.metadata.resourceVersion ?? '') !== '';
    case 'delete':
      return mutation.uid !== undefined || mutation.resourceVersion !== undefined;
  }
}

/**
 * Decodes the plan in a record of `mutations`. A plan can write only objects of the Service whose key it carries, so a
 * forged or misrouted message cannot affect another Service, namespace or cluster.
 *
 * @throws Error with the reason, for the dead letters, if the record is not such a plan
 */
export function readPlan(record: Pick<BusRecord, 'key' | 'headers' | 'payload' | 'message'>): PlannedMutations {
  const { key } = record;
  assertNotRejected(record);
  const message = decodeRecord(record);
  if (message.kind !== 'mutations') throw new TypeError(`unexpected message kind ${message.kind} in mutations`);
  if (formatServiceKey(message.key) !== key) {
    throw new TypeError(`${message.kind} for ${formatServiceKey(message.key)} under key ${key}`);
  }
  for (const { mutations } of message.groups) {
    for (const mutation of mutations) {
      const wrong = outside(mutation, message.key);
      if (wrong !== undefined) throw new TypeError(`plan for ${key} writes outside its ${wrong}`);
    }
  }
  return message;
}

/**
 * What the mutation falls outside of, or undefined if it belongs to the Service. A slice deletion carries only a name, so it
 * passes here, and its label is checked before the deletion is sent.
 */
function outside(mutation: Mutation, { namespace, service }: ServiceKey): 'namespace' | 'Service' | undefined {
  if (mutation.verb === 'delete') {
    return mutation.resource === 'endpoints' && mutation.name !== service ? 'Service' : undefined;
  }
  const { metadata } = mutation.object;
  if (metadata.namespace !== namespace) return 'namespace';
  const of = mutation.resource === 'endpoints' ? metadata.name : metadata.labels?.[serviceNameLabel];
  return of === service ? undefined : 'Service';
}
