import type { Fact, Outcome, PlannedMutations } from '@sluice/messages';
import { type EndpointSlice, type Endpoints, structurallyEqual } from '@sluice/model';
import { type RetainedRecord, sizeOf, type Written } from './retained-record.ts';

interface StoredWrite {
  readonly resourceVersion: string;
  readonly plan: string;
  readonly group: number;
  readonly index: number;
  /** What the plan has written; undefined until it is known. */
  readonly object: Written | undefined;
}

/** Key of the Endpoints object; no slice has an empty name. */
const endpointsName = '';

/**
 * The last write to each slice and to the Endpoints. Its watch echo has the same content as the plan, so the journal keeps that
 * content once, if it has both as objects: it neither decodes nor encodes what came from the bus.
 */
export class OwnWrites {
  readonly #stored = new Map<string, StoredWrite>();

  /** Adds the writes that an Outcome reports. Returns whether there were any. `plans`: the retained ones. */
  addOutcome(outcome: Outcome, plans: readonly RetainedRecord[]): boolean {
    const name = planName(outcome);
    const record = plans.findLast((one) => nameOf(one) === name);
    const plan = record && planOf(record);
    let hasWrites = false;
    for (const { verb, resource, name: object, stored, current, group, index } of outcome.results) {
      if (verb === 'delete') this.#stored.delete(object);
      // An object that was read back may differ from the plan; the Outcome contains it.
      if (stored === undefined || current !== undefined) continue;
      const { resourceVersion } = stored;
      const write = { resourceVersion, plan: name, group, index, object: plan && objectIn(plan, group, index) };
      this.#stored.set(resource === 'endpoints' ? endpointsName : object, write);
      hasWrites = true;
    }
    return hasWrites;
  }

  /** Adds a plan, whose Outcome may have arrived before. Returns whether it had. */
  addPlan(record: RetainedRecord): boolean {
    const plan = planOf(record);
    if (plan === undefined) return false;
    const name = planName(plan);
    let isLate = false;
    for (const [object, write] of this.#stored) {
      if (write.plan !== name || write.object !== undefined) continue;
      this.#stored.set(object, { ...write, object: objectIn(plan, write.group, write.index) });
      isLate = true;
    }
    return isLate;
  }

  /** Forgets the content of plans that the journal has dropped. */
  forgetContent(): void {
    for (const [object, write] of this.#stored) this.#stored.set(object, { ...write, object: undefined });
  }

  /** The record of a Change, sharing the content of own writes with their plans. */
  share(record: RetainedRecord): RetainedRecord {
    const { content } = record;
    if (content instanceof Uint8Array || content.kind !== 'change' || content.snapshot !== undefined) return record;
    const ownWrites = new Set(record.ownWrites);
    const shared = new Map(record.shared);
    const facts = content.facts.map((fact): Fact => {
      const name = writtenName(fact);
      const write = name === undefined ? undefined : this.#stored.get(name);
      if (
        name === undefined ||
        write === undefined ||
        objectOf(fact)?.metadata.resourceVersion !== write.resourceVersion
      )
        return fact;
      ownWrites.add(name);
      if (write.object === undefined || shared.has(name)) return fact;
      const sharing = sharingContent(fact, write.object);
      if (sharing !== fact) shared.set(name, write.object);
      return sharing;
    });
    // Most Changes are no watch echoes.
    if (ownWrites.size === (record.ownWrites?.length ?? 0) && shared.size === (record.shared?.size ?? 0)) return record;
    const change = { ...content, facts };
    return { ...record, content: change, ownWrites: [...ownWrites], shared, size: sizeOf(change, shared) };
  }
}

/** What these plans write. */
export const writtenBy = (plans: readonly RetainedRecord[]): ReadonlySet<Written> =>
  new Set(
    plans.flatMap((record) =>
      (planOf(record)?.groups ?? []).flatMap(({ mutations }) =>
        mutations.flatMap((mutation) => (mutation.verb === 'delete' ? [] : [mutation.object])),
      ),
    ),
  );

/** The record, sharing only what is kept: the rest counts with the record. */
export function sharingOnly(record: RetainedRecord, kept: ReadonlySet<Written>): RetainedRecord {
  const { content, shared } = record;
  if (shared === undefined || content instanceof Uint8Array) return record;
  const left = new Map([...shared].filter(([, object]) => kept.has(object)));
  return left.size === shared.size ? record : { ...record, shared: left, size: sizeOf(content, left) };
}

/** Whether a Change has content that it may share with a plan. */
export function mayBeEcho({ content, shared }: RetainedRecord): boolean {
  if (content instanceof Uint8Array || content.kind !== 'change' || content.snapshot !== undefined) return false;
  return content.facts.some((fact) => objectOf(fact) !== null && shared?.has(writtenName(fact) ?? '') !== true);
}

const planOf = ({ content }: RetainedRecord): PlannedMutations | undefined =>
  !(content instanceof Uint8Array) && content.kind === 'mutations' ? content : undefined;

const nameOf = (record: RetainedRecord): string | undefined => {
  const plan = planOf(record);
  return plan && planName(plan);
};

const planName = ({ controller, plan }: Pick<PlannedMutations, 'controller' | 'plan'>): string =>
  `${controller}/${plan.epoch}/${plan.number}`;

function objectIn({ groups }: PlannedMutations, group: number, index: number): Written | undefined {
  const mutation = groups[group]?.mutations[index];
  return mutation === undefined || mutation.verb === 'delete' ? undefined : mutation.object;
}

/** Name of the object that the fact is about; undefined if it is none that plans write. */
function writtenName(fact: Fact): string | undefined {
  if (fact.kind === 'slice') return fact.name;
  return fact.kind === 'endpoints' ? endpointsName : undefined;
}

function objectOf(fact: Fact): EndpointSlice | Endpoints | null {
  if (fact.kind === 'slice') return fact.slice;
  return fact.kind === 'endpoints' ? fact.endpoints : null;
}

const isEmpty = (fact: Fact): boolean =>
  fact.kind === 'slice'
    ? !fact.slice?.endpoints?.length
    : fact.kind === 'endpoints' && !fact.endpoints?.subsets?.length;

/** The same fact with the content of what was written. A mutating webhook may have changed it; then the fact keeps its own. */
function sharingContent(fact: Fact, written: Written): Fact {
  // An empty list is equal to none, and not the same.
  if (isEmpty(fact)) return fact;
  if (fact.kind === 'slice' && fact.slice !== null) {
    const { endpoints = null } = written as EndpointSlice;
    return structurallyEqual(endpoints, fact.slice.endpoints) ? { ...fact, slice: { ...fact.slice, endpoints } } : fact;
  }
  if (fact.kind === 'endpoints' && fact.endpoints !== null) {
    const { subsets = null } = written as Endpoints;
    return structurallyEqual(subsets, fact.endpoints.subsets)
      ? { ...fact, endpoints: { ...fact.endpoints, subsets } }
      : fact;
  }
  return fact;
}
