import type { Outcome, PlanId, PlannedMutations } from '@sluice/messages';
import { type Mutation, structurallyEqual } from '@sluice/model';
import type { Observation } from '../view/entry-schemas.ts';
import type { HistoryState } from './history-state.ts';

interface UnansweredWrite {
  readonly mutation: Mutation;
  readonly plan: PlanId;
}

/**
 * Writes of plans that ended without an answer of the API server. It may still execute them, for example once it is no longer
 * frozen, and a retry then meets a conflict. Their watch events are not of another client.
 */
export class UnansweredWrites {
  /** By kind and name of the object. */
  readonly #writes: Map<string, UnansweredWrite>;

  constructor(from?: UnansweredWrites) {
    this.#writes = new Map(from === undefined ? [] : from.#writes);
  }

  completed({ plan, groups }: PlannedMutations, { status, results }: Outcome): void {
    for (const [group, { mutations }] of groups.entries()) {
      for (const [index, mutation] of mutations.entries()) {
        const result = results.find((one) => one.group === group && one.index === index);
        const isUnknown = status === 'unavailable' || status === 'conflict';
        if (isUnknown && result?.status !== 'applied') this.#writes.set(objectOf(mutation), { mutation, plan });
        else this.#writes.delete(objectOf(mutation));
      }
    }
  }

  /** The observation of a slice or Endpoints that have changed. Says so if it is such a write. */
  describe(observation: Observation, history: HistoryState): Observation {
    const { of, name } = observation;
    const write = this.#writes.get(`${of}/${name}`);
    // Its precondition fails from now on.
    this.#writes.delete(`${of}/${name}`);
    if (write === undefined || !isWritten(write.mutation, history)) return observation;
    const verb = of === 'endpoints' ? 'were' : 'was';
    const verbs = { create: 'created', update: 'modified', delete: 'deleted' } as const;
    const { epoch, number } = write.plan;
    return { of, name, text: `${verb} ${verbs[write.mutation.verb]} by plan ${epoch}/${number}, which got no answer` };
  }
}

/** Whether an observation is of such a write. */
export const isUnansweredWrite = ({ text }: Observation): boolean =>
  / by plan \d+\/\d+, which got no answer$/.test(text);

const nameOf = (mutation: Mutation): string =>
  mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name;

const objectOf = (mutation: Mutation): string =>
  `${mutation.resource === 'endpoints' ? 'endpoints' : 'slice'}/${nameOf(mutation)}`;

/** Whether the object is as the write leaves it, and nobody else is known to have written it. */
function isWritten(mutation: Mutation, history: HistoryState): boolean {
  const name = nameOf(mutation);
  if (mutation.resource === 'endpoints') {
    const { endpoints } = history;
    if (mutation.verb === 'delete' || endpoints === null) return mutation.verb === 'delete' && endpoints === null;
    if (history.managerOf('endpoints', name) !== undefined) return false;
    return structurallyEqual(mutation.object.subsets ?? [], endpoints.subsets ?? []);
  }
  const slice = history.slices.get(name)?.slice;
  if (mutation.verb === 'delete' || slice === undefined) return mutation.verb === 'delete' && slice === undefined;
  if (history.managerOf('slice', name) !== undefined) return false;
  return structurallyEqual(mutation.object.endpoints ?? [], slice.endpoints ?? []);
}
