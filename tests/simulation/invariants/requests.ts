import type { StoredObject } from '@sluice/fake-apiserver';
import type { Middleware } from '@sluice/kubernetes';
import { comparePlans, formatServiceKey, type PlanId, type PlannedMutations } from '@sluice/messages';
import type { Mutation } from '@sluice/model';
import type { SimulatedCluster } from '../simulated-cluster.ts';
import type { Violations } from '../violations.ts';
import type { CommitInvariants } from './commits.ts';
import type { InheritedPlans } from './inherited-plans.ts';
import { type Observations, planName } from './observations.ts';
import type { OwnLeases } from './own-leases.ts';
import { type PlanInvariants, signature } from './plans.ts';
import { RequestsInFlight } from './requests-in-flight.ts';
import { RetryPaces } from './retry-paces.ts';
import type { UnreportedWrites } from './unreported-writes.ts';

export interface RequestInvariantsOptions {
  readonly observations: Observations;
  readonly violations: Violations;
  readonly plans: PlanInvariants;
  readonly commits: CommitInvariants;
  readonly inherited: InheritedPlans;
  readonly unreported: UnreportedWrites;
  readonly ownLeases: OwnLeases;
}

/** Every write request as it leaves a writer: planned, fenced, conditional, and of the right cluster. */
export class RequestInvariants {
  readonly #observations: Observations;
  readonly #violations: Violations;
  readonly #plans: PlanInvariants;
  readonly #commits: CommitInvariants;
  readonly #inherited: InheritedPlans;
  readonly #inFlight = new RequestsInFlight();
  readonly #unreported: UnreportedWrites;
  readonly #ownLeases: OwnLeases;
  /** Newest plan of which a write succeeded, by work key. */
  readonly #applied = new Map<string, PlanId>();
  /** Plans that have created slices, by work key. */
  readonly #creating = new Map<string, Set<PlannedMutations>>();
  /** Slices that were created, by cluster, namespace and name. */
  readonly #created = new Set<string>();
  readonly #paces: RetryPaces;
  requests = 0;

  constructor(options: RequestInvariantsOptions) {
    const { observations, violations, plans, commits, inherited, unreported, ownLeases } = options;
    this.#unreported = unreported;
    this.#ownLeases = ownLeases;
    this.#commits = commits;
    this.#inherited = inherited;
    this.#observations = observations;
    this.#violations = violations;
    this.#plans = plans;
    this.#paces = new RetryPaces(observations.now, violations);
  }

  audit(member: string, cluster: SimulatedCluster): Middleware {
    return async (request, next) => {
      if (request.verb !== 'create' && request.verb !== 'update' && request.verb !== 'delete') return next(request);
      this.requests += 1;
      const mutation = (request.verb === 'delete'
        ? { ...request, ...request.preconditions }
        : request) as unknown as Mutation;
      const [plan, ...older] = this.#plans.withMutation(mutation, cluster.identity);
      this.#check(member, mutation, cluster, plan);
      if (plan === undefined) return next(request);
      const others = older.filter((other) => !this.#inherited.hasPassed(other));
      const workKeyOfPlan = workKeyOf(plan);
      const workKey = `${member} ${workKeyOfPlan}`;
      const end = this.#inFlight.begin(
        workKey,
        [plan, ...others].map(({ plan: { epoch, number } }) => `${epoch}/${number}`),
      );
      if (!this.#inFlight.areOfOnePlan(workKey))
        this.#report('one plan at a time', `${member} sends two plans of ${plan.key.service} at once`);
      this.#paces.check(member, plan, mutation);
      try {
        const newest = this.#applied.get(workKeyOfPlan);
        const response = await this.#unreported.during(member, [plan, ...others], mutation, () => next(request));
        this.#checkOrder(member, mutation, plan, newest);
        const before = this.#applied.get(workKeyOfPlan);
        if (before === undefined || comparePlans(before, plan.plan) < 0) this.#applied.set(workKeyOfPlan, plan.plan);
        if (isCreation(mutation))
          this.#creating.set(workKeyOfPlan, (this.#creating.get(workKeyOfPlan) ?? new Set()).add(plan));
        return response;
      } catch (error) {
        this.#paces.refused(member, plan, mutation, error);
        throw error;
      } finally {
        end();
      }
    };
  }

  /**
   * A slice was created: not by a request of an old plan that arrived after the writes of a later one. Nothing stops a repeated
   * request that arrives after its slice was created and deleted, or one of a plan that has created more slices than the later one:
   * the names of the other slices are still free. A Service that was recreated has other names for its slices.
   */
  created({ identity, name: cluster, view }: SimulatedCluster, { metadata }: StoredObject): void {
    const slice = `${metadata.namespace}/${metadata.name}`;
    const isRepeated = this.#created.has(`${identity} ${slice}`);
    this.#created.add(`${identity} ${slice}`);
    const plan = this.#plans.ofSlice(identity, slice);
    if (isRepeated || plan === undefined || !this.#observations.conditions.isIntact) return;
    // Also those of Endpoints that have stayed.
    const service = view.get('services', plan.key.namespace, plan.key.service);
    if (service !== undefined && Date.parse(`${service.metadata.creationTimestamp}`) + 999 >= plan.decidedAt) return;
    const later = [...(this.#creating.get(workKeyOf(plan)) ?? [])].findLast(
      (other) =>
        comparePlans(plan.plan, other.plan) < 0 &&
        creationsOf(other) >= creationsOf(plan) &&
        ownerOf(other) === ownerOf(plan),
    );
    if (later === undefined) return;
    const newest = later.plan;
    const what = `${cluster} creates ${metadata.name} of plan ${plan.plan.epoch}/${plan.plan.number}`;
    this.#report('no late creates', `${what} after writes of plan ${newest.epoch}/${newest.number}`);
  }

  #check(member: string, mutation: Mutation, cluster: SimulatedCluster, plan: PlannedMutations | undefined): void {
    const what = `${member} sends ${signature(mutation).slice(0, 100)}`;
    if (!isConditional(mutation)) this.#report('writes are conditional', what);
    if (plan === undefined) return this.#report('writes are planned', `${what}, which no plan contains`);
    if (plan.key.cluster !== cluster.identity) this.#report('nothing crosses clusters', `${what} to ${cluster.name}`);
    const partition = this.#observations.partitionOf(formatServiceKey(plan.key));
    this.#inherited.check(member, partition, mutation.verb, plan, what);
    this.#checkLease(member, plan, what);
  }

  #checkLease(member: string, plan: PlannedMutations, what: string): void {
    const { conditions } = this.#observations;
    const partition = this.#observations.partitionOf(formatServiceKey(plan.key));
    const refusal = conditions.hasExpiry ? this.#ownLeases.refusal('writer', member, String(partition)) : undefined;
    if (refusal !== undefined) this.#report('no byte after the deadline', `${what} ${refusal}`);
    if (!conditions.isIntact) return;
    const lease = this.#observations.lease('writer', String(partition));
    // Without its own clock, a former owner learns that it has lost the lease with its next heartbeat.
    if (conditions.hasExpiry && lease !== undefined && lease.holder !== member)
      this.#report('current fencing token', `${what} for partition ${partition}, which ${lease.holder} owns`);
    if (this.#commits.hasAnswered(member, partition, plan))
      this.#report('one plan at a time', `${what} of plan ${planName(partition, plan.plan)} after its Outcome`);
  }

  /**
   * No write succeeds after a newer plan of its Service. Also across logs that were recreated: only the store knows which plans
   * were applied, and only leases exclude two writers. A writer that has claimed its partition repeats plans in vain, since their
   * preconditions fail; without preconditions it repeats them with effect.
   */
  #checkOrder(member: string, mutation: Mutation, planned: PlannedMutations, newest: PlanId | undefined): void {
    const { isOrdered, hasPreconditions } = this.#observations.conditions;
    const { plan } = planned;
    if (!isOrdered || newest === undefined || comparePlans(plan, newest) >= 0) return;
    const partition = this.#observations.partitionOf(formatServiceKey(planned.key));
    if (!hasPreconditions && this.#inherited.isInherited(member, partition, planned)) return;
    const what = `${member} sends ${signature(mutation).slice(0, 100)} of plan ${plan.epoch}/${plan.number}`;
    this.#report('plans in order', `${what} after plan ${newest.epoch}/${newest.number}`);
  }

  #report(invariant: string, what: string): void {
    this.#violations.report(invariant, what);
  }
}

const workKeyOf = ({ key, controller }: PlannedMutations): string => `${formatServiceKey(key)} ${controller}`;

const isCreation = ({ verb, resource }: Mutation): boolean => verb === 'create' && resource === 'endpointslices';

const creationsOf = ({ groups }: PlannedMutations): number =>
  groups.reduce((sum, { mutations }) => sum + mutations.filter(isCreation).length, 0);

const ownerOf = ({ groups }: PlannedMutations): string | undefined => {
  const creation = groups.flatMap(({ mutations }) => mutations).find(isCreation);
  return creation?.verb === 'create' ? creation.object.metadata.ownerReferences?.[0]?.uid : undefined;
};

/** A create has no precondition; a name that is taken fails. */
function isConditional(mutation: Mutation): boolean {
  switch (mutation.verb) {
    case 'create':
      return true;
    case 'update':
      return (mutation.object.metadata.resourceVersion ?? '') !== '';
    case 'delete':
      return mutation.uid !== undefined || mutation.resourceVersion !== undefined;
  }
}
