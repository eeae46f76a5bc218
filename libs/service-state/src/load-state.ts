import { createRequire } from 'node:module';
import { decisionOrder } from '@sluice/controllers';
import {
  checkMessage,
  type Fact,
  formatServiceKey,
  noCauses,
  parseServiceKey,
  type ServiceKey,
} from '@sluice/messages';
import { ServiceState } from './service-state.ts';
import { joinParts, type StoredField } from './stored-form.ts';

type Schemas = typeof import('./stored-schemas.ts');

let loaded: Schemas['storedSchemas'] | undefined;

/** Loaded with the first state: an all-in-one process loads none. */
function schemas(): Schemas['storedSchemas'] {
  loaded ??= (createRequire(import.meta.url)('./stored-schemas.ts') as Schemas).storedSchemas;
  return loaded;
}

/**
 * Loads the state of one Service from its stored fields.
 *
 * @throws Error that names the field, if one cannot be read
 */
export function loadState(key: string, fields: readonly StoredField[]): ServiceState {
  const state = new ServiceState(parseServiceKey(key));
  for (const stored of joinParts(fields)) {
    const { field, value } = stored;
    const schema = schemas()[field.split('/', 1)[0] ?? ''];
    if (schema === undefined) throw new TypeError(`stored field ${field} is unknown`);
    const { error } = schema.safeParse(value);
    if (error)
      throw new TypeError(`stored field ${field}: ${error.issues[0]?.path.join('.') || 'the value'} is invalid`);
    state.load(stored);
  }
  checkObjects(state);
  return state;
}

/**
 * Checks cluster objects and plans with the schemas of the messages that carried them, and that each is the one that its field names:
 * one that was stored for another Service says nothing about this one.
 */
function checkObjects(state: ServiceState): void {
  const { key, service, endpoints } = state;
  const facts: Fact[] = [];
  if (service !== null) facts.push({ kind: 'service', service: service.service });
  if (endpoints !== null) facts.push({ kind: 'endpoints', endpoints: endpoints.endpoints, uid: '' });
  for (const [name, { pod, node }] of state.pods) facts.push({ kind: 'pod', name, pod, node });
  for (const [name, { slice }] of state.slices) facts.push({ kind: 'slice', name, slice, uid: '' });
  checkMessage({ kind: 'change', key, stamp: state.snapshot.stamp, facts, causes: noCauses });
  checkName(key, 'service', service?.service, key.service);
  checkName(key, 'endpoints', endpoints?.endpoints.metadata, key.service);
  for (const [name, { pod }] of state.pods) checkName(key, `pod/${name}`, pod, name);
  for (const [name, { slice }] of state.slices) checkName(key, `slice/${name}`, slice.metadata, name);
  for (const controller of decisionOrder) {
    const { inFlight: plan } = state.controller(controller);
    if (plan === null) continue;
    checkMessage({ ...plan.message });
    if (formatServiceKey(plan.message.key) !== formatServiceKey(key) || plan.message.controller !== controller)
      throw new TypeError(`stored field controller/${controller}:plan: the plan is for another Service or controller`);
  }
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

function checkName({ namespace }: ServiceKey, field: string, object: Named | null | undefined, name: string): void {
  if (object && (object.name !== name || object.namespace !== namespace))
    throw new TypeError(`stored field ${field}: the object is ${object.namespace}/${object.name}`);
}
