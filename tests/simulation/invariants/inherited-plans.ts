import type { Delivery, Topic } from '@sluice/bus';
import { formatServiceKey, type PlannedMutations } from '@sluice/messages';
import type { Checkpoint, Commit, ScopeState } from '@sluice/store';
import type { Violations } from '../violations.ts';
import type { Conditions } from './conditions.ts';

/** What a writer knows of a partition that it has claimed. */
interface Claim {
  /** Whether the store may have lost which plans were applied. */
  isDoubtful: boolean;
  /** End of the log at the claim. Plans up to it may have been applied by another owner. */
  end: number;
  /** Plans of the records up to it. */
  readonly inherited: Set<string>;
  /** The same of chunks: whether the others of their message arrive is not known here. */
  readonly inheritedChunks: Set<string>;
  /** Ids by offset, of the records delivered since the claim. */
  readonly ids: Map<number, string>;
}

/**
 * A plan that another owner may have applied is not applied again where its repetition can do harm: a create has no
 * precondition, a store that has lost commits does not know what was applied, and a checkpoint has passed what is finished.
 */
export class InheritedPlans {
  readonly #violations: Violations;
  readonly #conditions: Conditions;
  /** By member and partition. */
  readonly #claims = new Map<string, Claim>();
  /** Plans that a checkpoint has passed. */
  readonly #passed = new Set<string>();

  constructor(violations: Violations, conditions: Conditions) {
    this.#violations = violations;
    this.#conditions = conditions;
  }

  claimed(member: string, scope: string, { checkpoint, intact }: ScopeState): void {
    const partition = partitionOf(scope);
    if (partition === undefined) return;
    const { end } = this.#claim(member, partition);
    this.#claims.set(`${member} ${partition}`, emptyClaim({ isDoubtful: checkpoint !== null && !intact, end }));
  }

  /** The member has asked for the end of the log. */
  ended(member: string, topic: Topic, partition: number, offset: number): void {
    if (topic === 'mutations') this.#claim(member, partition).end = offset;
  }

  delivered(member: string, topic: Topic, partition: number, records: readonly Delivery[]): void {
    if (topic !== 'mutations') return;
    const { end, inherited, inheritedChunks, ids } = this.#claim(member, partition);
    for (const { offset, id, headers } of records) {
      if (headers['Sluice-Chunk'] !== undefined) {
        if (offset <= end) inheritedChunks.add(planOf(id));
        continue;
      }
      ids.set(offset, id);
      if (offset <= end) inherited.add(planOf(id));
    }
  }

  committed(member: string, { scope, checkpoint }: Commit, previous: Checkpoint | null): void {
    const partition = partitionOf(scope);
    if (partition === undefined || previous === null || !this.#conditions.isIntact) return;
    for (const [offset, id] of this.#claim(member, partition).ids)
      if (offset > previous.offset && offset <= checkpoint.offset) this.#passed.add(planOf(id));
  }

  /** Call with each write request. */
  check(member: string, partition: number, verb: string, plan: PlannedMutations, what: string): void {
    const name = nameOf(plan);
    const { inherited, isDoubtful } = this.#claim(member, partition);
    if (inherited.has(name) && verb === 'create') this.#report(`${what}, which a former owner may have sent already`);
    if (inherited.has(name) && isDoubtful) this.#report(`${what}, though the store has lost which plans were applied`);
    // A former owner that does not notice that its lease has expired repeats what it has started, in vain.
    if (this.#conditions.hasExpiry && this.#passed.has(name))
      this.#report(`${what}, although a checkpoint has passed its plan`);
  }

  /** Whether a checkpoint has passed the plan, so that nobody applies it again. */
  hasPassed(plan: PlannedMutations): boolean {
    return this.#passed.has(nameOf(plan));
  }

  /** Whether the plan was in the log when the member claimed its partition, so that it may be a repetition. */
  isInherited(member: string, partition: number, plan: PlannedMutations): boolean {
    const { inherited, inheritedChunks } = this.#claim(member, partition);
    return inherited.has(nameOf(plan)) || inheritedChunks.has(nameOf(plan));
  }

  #report(what: string): void {
    this.#violations.report('no plan is applied twice', what);
  }

  #claim(member: string, partition: number): Claim {
    const name = `${member} ${partition}`;
    const known = this.#claims.get(name);
    if (known !== undefined) return known;
    const claim = emptyClaim({ isDoubtful: false, end: 0 });
    this.#claims.set(name, claim);
    return claim;
  }
}

const emptyClaim = (known: Pick<Claim, 'isDoubtful' | 'end'>): Claim => ({
  ...known,
  inherited: new Set(),
  inheritedChunks: new Set(),
  ids: new Map(),
});

const nameOf = ({ key, controller, plan }: PlannedMutations): string =>
  `${formatServiceKey(key)}/${controller}/${plan.epoch}/${plan.number}`;

/** Without the number of the redelivery. */
const planOf = (id: string): string => id.split('/again/')[0] ?? id;

function partitionOf(scope: string): number | undefined {
  return scope.startsWith('writer/') ? Number(scope.slice('writer/'.length)) : undefined;
}
