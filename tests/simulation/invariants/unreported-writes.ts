import type { Mutation } from '@sluice/controllers';
import { isApiError } from '@sluice/kubernetes';
import { formatServiceKey, type Outcome, type PlanId, type PlannedMutations, type ServiceKey } from '@sluice/messages';

interface Writes {
  /** Writes that have succeeded: verb, resource and name. */
  readonly succeeded: Set<string>;
  /** Whether a write may have been stored: not if the server has refused all of them with 429. */
  isStarted: boolean;
  /** Kinds of the errors. */
  readonly errors: Set<string>;
}

/** The writes of each plan since its writer has claimed the partition, until it publishes the Outcome, which reports them. */
export class UnreportedWrites {
  /** By member, partition and plan. */
  readonly #writes = new Map<string, Writes>();
  readonly #partitionOf: (key: string) => number;

  constructor(partitionOf: (key: string) => number) {
    this.#partitionOf = partitionOf;
  }

  /** What the member has sent before it read the partition again is unknown to it. */
  claimed(member: string, scope: string): void {
    const [role, partition] = scope.split('/');
    if (role !== 'writer') return;
    for (const name of [...this.#writes.keys()])
      if (name.startsWith(`${member} ${partition} `)) this.#writes.delete(name);
  }

  /** Sends a write of the plan. */
  async during<T>(member: string, plan: PlannedMutations, mutation: Mutation, send: () => Promise<T>): Promise<T> {
    const name = this.#nameOf(member, plan);
    const writes = this.#writes.get(name) ?? { succeeded: new Set(), isStarted: false, errors: new Set() };
    this.#writes.set(name, writes);
    try {
      const response = await send();
      writes.isStarted = true;
      const { verb, resource } = mutation;
      writes.succeeded.add(
        `${verb} ${resource} ${mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name}`,
      );
      return response;
    } catch (error) {
      if (!isApiError(error) || error.status !== 429) writes.isStarted = true;
      if (isApiError(error)) writes.errors.add(error.kind);
      throw error;
    }
  }

  /** What the Outcome conceals of what its writer has done; undefined: nothing. */
  concealedBy(member: string, outcome: Outcome): string | undefined {
    const name = this.#nameOf(member, outcome);
    const writes = this.#writes.get(name);
    this.#writes.delete(name);
    if (writes === undefined) return undefined;
    if (writes.isStarted && outcome.results.length === 0) return `${outcome.status}, without the writes that were sent`;
    if (outcome.status === 'rejected' && [...writes.errors].join() === 'retry')
      return 'rejected, after transient errors only';
    const reported = new Set(outcome.results.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`));
    const missing = [...writes.succeeded].find((write) => !reported.has(write));
    return missing && `${outcome.status}, without ${missing}, which has succeeded`;
  }

  #nameOf(member: string, { key, controller, plan }: { key: ServiceKey; controller: string; plan: PlanId }): string {
    const service = formatServiceKey(key);
    return `${member} ${this.#partitionOf(service)} ${service}/${controller}/${plan.epoch}/${plan.number}`;
  }
}
