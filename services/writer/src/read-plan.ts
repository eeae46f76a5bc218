import type { BusRecord } from '@sluice/bus';
import { type Mutation, serviceNameLabel } from '@sluice/controllers';
import { decodeRecord, formatServiceKey, type PlannedMutations, type ServiceKey } from '@sluice/messages';

/**
 * The plan in a record of `mutations`. Whatever the message says, it can only write what belongs to the Service under
 * whose key it came, so that nothing forged or mixed up reaches another Service, namespace or cluster.
 *
 * @throws Error if it is not such a plan: what is wrong, for the dead letters
 */
export function readPlan(record: Pick<BusRecord, 'key' | 'payload' | 'message'>): PlannedMutations {
  const { key } = record;
  const message = decodeRecord(record);
  if (message.kind !== 'mutations') throw new TypeError(`${message.kind} among mutations`);
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

/** What the mutation is not of; undefined if it is the Service's. A slice that is deleted tells only its name. */
function outside(mutation: Mutation, { namespace, service }: ServiceKey): 'namespace' | 'Service' | undefined {
  if (mutation.verb === 'delete') {
    return mutation.resource === 'endpoints' && mutation.name !== service ? 'Service' : undefined;
  }
  const { metadata } = mutation.object;
  if (metadata.namespace !== namespace) return 'namespace';
  const of = mutation.resource === 'endpoints' ? metadata.name : metadata.labels?.[serviceNameLabel];
  return of === service ? undefined : 'Service';
}
