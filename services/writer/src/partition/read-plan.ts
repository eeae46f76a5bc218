import { assertNotRejected, type BusRecord } from '@sluice/bus';
import { decodeRecord, formatServiceKey, type PlannedMutations, type ServiceKey } from '@sluice/messages';
import { type Mutation, serviceNameLabel } from '@sluice/model';

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
