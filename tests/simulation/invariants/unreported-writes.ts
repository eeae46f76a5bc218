import { isApiError } from '@sluice/kubernetes';
import { formatServiceKey, type Outcome, type PlanId, type PlannedMutations, type ServiceKey } from '@sluice/messages';
import type { Mutation } from '@sluice/model';

interface Write {
  /** Verb, resource and name. */
  readonly what: string;
  /**
   * The plans that may have sent it. A request does not name its plan, and after a conflict the same mutations may be decided again.
   */
  readonly plans: Set<string>;
  hasSucceeded: boolean;
  /** Whether it may have been stored: not if the server has refused it with 429. */
  isStarted: boolean;
  /** Kind of the error. */
  error: string | undefined;
}

/** What a writer has done in a partition since it claimed it. */
interface Work {
  /** Writes that no Outcome has reported yet. */
  readonly writes: Set<Write>;
  /** Plans with an Outcome, which send nothing more. */
  readonly answered: Set<string>;
}

/** The writes of each plan since its writer has claimed the partition, until it publishes the Outcome, which reports them. */
export class UnreportedWrites {
  /** By member and partition. */
  readonly #work = new Map<string, Work>();
  readonly #partitionOf: (key: string) => number;

  constructor(partitionOf: (key: string) => number) {
    this.#partitionOf = partitionOf;
  }

  /** What the member has sent before it read the partition again is unknown to it. */
  claimed(member: string, scope: string): void {
    const [role, partition] = scope.split('/');
    if (role === 'writer') this.#work.delete(`${member} ${partition}`);
  }

  /** Sends a write of one of the plans, which all contain it. */
  async during<T>(
    member: string,
    [plan, ...others]: readonly [PlannedMutations, ...PlannedMutations[]],
    mutation: Mutation,
    send: () => Promise<T>,
  ): Promise<T> {
    const { writes, answered } = this.#workOf(member, plan.key);
    const names = [plan, ...others].map(nameOf);
    const unanswered = names.filter((name) => !answered.has(name));
    const { verb, resource } = mutation;
    const write: Write = {
      what: `${verb} ${resource} ${mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name}`,
      plans: new Set(unanswered.length > 0 ? unanswered : names),
      hasSucceeded: false,
      isStarted: false,
      error: undefined,
    };
    writes.add(write);
    try {
      const response = await send();
      write.isStarted = true;
      write.hasSucceeded = true;
      return response;
    } catch (error) {
      if (!isApiError(error) || error.status !== 429) write.isStarted = true;
      if (isApiError(error)) write.error = error.kind;
      throw error;
    }
  }

  /** The Outcome has left the writer, perhaps for a reconciler of the same process, so its plan sends nothing more. */
  answered(member: string, outcome: Outcome): void {
    this.#workOf(member, outcome.key).answered.add(nameOf(outcome));
  }

  /** What the Outcome conceals of what its writer has done; undefined: nothing. */
  concealedBy(member: string, outcome: Outcome): string | undefined {
    this.answered(member, outcome);
    const { writes } = this.#workOf(member, outcome.key);
    const name = nameOf(outcome);
    const reported = new Set(outcome.results.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`));
    const own: Write[] = [];
    for (const write of writes) {
      if (!write.plans.delete(name)) continue;
      // What another plan may have sent is left to the Outcome of that plan, unless this one reports it.
      if (write.plans.size > 0 && !reported.has(write.what)) continue;
      writes.delete(write);
      own.push(write);
    }
    if (outcome.results.length === 0 && own.some(({ isStarted }) => isStarted))
      return `${outcome.status}, without the writes that were sent`;
    const errors = new Set(own.flatMap(({ error }) => error ?? []));
    if (outcome.status === 'rejected' && [...errors].join() === 'retry') return 'rejected, after transient errors only';
    const missing = own.find(({ hasSucceeded, what }) => hasSucceeded && !reported.has(what));
    return missing && `${outcome.status}, without ${missing.what}, which has succeeded`;
  }

  #workOf(member: string, key: ServiceKey): Work {
    const scope = `${member} ${this.#partitionOf(formatServiceKey(key))}`;
    const known = this.#work.get(scope);
    if (known !== undefined) return known;
    const work = { writes: new Set<Write>(), answered: new Set<string>() };
    this.#work.set(scope, work);
    return work;
  }
}

const nameOf = ({ key, controller, plan }: { key: ServiceKey; controller: string; plan: PlanId }): string =>
  `${formatServiceKey(key)}/${controller}/${plan.epoch}/${plan.number}`;
