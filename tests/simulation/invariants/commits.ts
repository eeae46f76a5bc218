import type { Topic } from '@sluice/bus';
import { formatServiceKey, type PlannedMutations } from '@sluice/messages';
import type { Checkpoint, Commit } from '@sluice/store';
import type { SimulatedStore } from '../doubles/simulated-store.ts';
import type { Violations } from '../violations.ts';
import type { Observations } from './observations.ts';
import type { PlanInvariants } from './plans.ts';

/** Longest time between a decision to commit and its arrival, in milliseconds. */
const inFlightMs = 6_000;

interface Delivered {
  /** Ids by offset, of the records delivered since the claim. */
  readonly ids: Map<number, string>;
  last: number;
}

/** Commits move forward, under the current fencing token, and only over records whose effects are stored. */
export class CommitInvariants {
  readonly #observations: Observations;
  readonly #violations: Violations;
  readonly #plans: PlanInvariants;
  readonly #store: () => SimulatedStore;
  readonly #tokens = new Map<string, number>();
  /** By member and scope. */
  readonly #delivered = new Map<string, Delivered>();
  /** Plans whose Outcome is on the bus since the member's claim, by member and scope. */
  readonly #answered = new Map<string, Set<string>>();
  /** Ids of records that are, or were, in a log. */
  readonly #stored = new Set<string>();

  constructor(observations: Observations, violations: Violations, plans: PlanInvariants, store: () => SimulatedStore) {
    this.#observations = observations;
    this.#violations = violations;
    this.#plans = plans;
    this.#store = store;
  }

  claimed(member: string, scope: string): void {
    this.#delivered.delete(`${member} ${scope}`);
    this.#answered.delete(`${member} ${scope}`);
  }

  delivered(member: string, topic: Topic, partition: number, records: readonly { offset: number; id: string }[]): void {
    const scope = scopeOf(topic, partition);
    if (scope === undefined) return;
    const delivered = this.#delivered.get(`${member} ${scope}`) ?? { ids: new Map<number, string>(), last: 0 };
    this.#delivered.set(`${member} ${scope}`, delivered);
    for (const { offset, id } of records) {
      delivered.ids.set(offset, id);
      delivered.last = Math.max(delivered.last, offset);
    }
  }

  /** These records are in their log. */
  stored(records: readonly { readonly id: string }[]): void {
    for (const { id } of records) this.#stored.add(id);
  }

  /** A member sends records. */
  sent(member: string, topic: Topic, records: readonly { readonly id: string }[]): void {
    if (topic !== 'changes') return;
    for (const { id } of records) {
      const [plan = '', isOutcome] = id.split('/outcome/');
      if (isOutcome === undefined || this.#stored.has(plan)) continue;
      this.#violations.report(
        'Outcomes follow plans',
        `${member} sends the Outcome of ${plan}, which no log has stored`,
      );
    }
  }

  /** Records of the member are on the bus. */
  appended(member: string, topic: Topic, partition: number, records: readonly { readonly id: string }[]): void {
    this.stored(records);
    if (topic !== 'changes') return;
    const name = `${member} writer/${partition}`;
    for (const { id } of records) {
      const [record = '', isOutcome] = id.split('/outcome/');
      if (isOutcome === undefined || id.includes('/chunk/')) continue;
      const answered = this.#answered.get(name) ?? new Set();
      this.#answered.set(name, answered.add(planOf(record)));
    }
  }

  /** Whether the Outcome of the plan is on the bus since the member's claim. */
  hasAnswered(member: string, partition: number, { key, controller, plan }: PlannedMutations): boolean {
    const name = `${formatServiceKey(key)}/${controller}/${plan.epoch}/${plan.number}`;
    return this.#answered.get(`${member} writer/${partition}`)?.has(name) === true;
  }

  released(member: string, topic: Topic, partition: number, offset: number): void {
    const scope = scopeOf(topic, partition);
    if (scope === undefined || !this.#observations.conditions.isIntact) return;
    const committed = this.#store().checkpoint(scope)?.offset ?? 0;
    if (offset > committed)
      this.#violations.report(
        'release after commit',
        `${member} releases ${topic}/${partition} up to ${offset}, committed ${committed}`,
      );
  }

  committed(member: string, commit: Commit, previous: Checkpoint | null): void {
    const { scope, fencingToken, checkpoint } = commit;
    const { isIntact } = this.#observations.conditions;
    const [role = '', name = ''] = scope.split(/\/(.*)/s);
    const last = this.#tokens.get(scope) ?? 0;
    const what = `${member} commits ${scope} under fencing token ${fencingToken}`;
    if (isIntact && fencingToken < last) this.#violations.report('fencing tokens increase', `${what} after ${last}`);
    this.#tokens.set(scope, fencingToken);
    this.#checkLease(member, role, name, fencingToken, what);
    if (role === 'reconciler') this.#plans.committed(Number(name), fencingToken, commit.entries);
    if (!isIntact || previous === null) return;
    if (checkpoint.offset < previous.offset && checkpoint.streamId === previous.streamId)
      this.#violations.report(
        'checkpoints increase',
        `${what} with offset ${checkpoint.offset} after ${previous.offset}`,
      );
    if (role === 'watcher' || checkpoint.offset === previous.offset) return;
    const delivered = this.#delivered.get(`${member} ${scope}`);
    if (checkpoint.offset > (delivered?.last ?? 0))
      this.#violations.report(
        'checkpoint follows records',
        `${what} with offset ${checkpoint.offset}, read ${delivered?.last}`,
      );
    const id = delivered?.ids.get(checkpoint.offset);
    if (id !== undefined && id !== checkpoint.id)
      this.#violations.report(
        'checkpoint follows records',
        `${what} with record ${checkpoint.id} at ${checkpoint.offset}, not ${id}`,
      );
    if (role === 'writer') this.#checkAnswered(member, what, Number(name), previous, checkpoint);
    for (const offset of delivered?.ids.keys() ?? []) if (offset < checkpoint.offset) delivered?.ids.delete(offset);
  }

  /** A member that has acquired a lease again stops its work under the former fencing token. */
  #checkLease(member: string, role: string, name: string, fencingToken: number, what: string): void {
    const lease = role === 'watcher' ? undefined : this.#observations.lease(role, name);
    if (lease?.holder !== member || fencingToken >= lease.fencingToken) return;
    // A token is the time of its acquisition; a commit that was on its way then may still arrive.
    if (this.#observations.conditions.isIntact && this.#observations.now() > lease.fencingToken + inFlightMs)
      this.#violations.report('current fencing token', `${what} while its token is ${lease.fencingToken}`);
  }

  /** A writer's checkpoint passes a plan only after its Outcome. */
  #checkAnswered(member: string, what: string, partition: number, previous: Checkpoint, { offset }: Checkpoint): void {
    const scope = `${member} writer/${partition}`;
    for (const [at, id] of this.#delivered.get(scope)?.ids ?? []) {
      // A message of which only some chunks are in the log is no plan.
      if (id.includes('/chunk/') || at <= previous.offset || at > offset || this.#answered.get(scope)?.has(planOf(id)))
        continue;
      this.#violations.report('checkpoint follows Outcomes', `${what} past ${id}, which has no Outcome`);
    }
  }
}

function scopeOf(topic: Topic, partition: number): string | undefined {
  if (topic === 'requests') return undefined;
  return `${topic === 'changes' ? 'reconciler' : 'writer'}/${partition}`;
}

/** A plan that is redelivered while it is being applied has one Outcome, whichever of its records that names. */
function planOf(record: string): string {
  return record.split('/again/')[0] ?? '';
}
