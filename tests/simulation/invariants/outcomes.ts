import type { MutationResult, Outcome, PlannedMutations } from '@sluice/messages';
import type { ObjectVersion, SimulatedCluster } from '../simulated-cluster.ts';
import type { Violations } from '../violations.ts';
import { type Observations, planName } from './observations.ts';
import type { PlanInvariants } from './plans.ts';
import type { UnreportedWrites } from './unreported-writes.ts';

export interface OutcomeInvariantsOptions {
  readonly observations: Observations;
  readonly violations: Violations;
  readonly plans: PlanInvariants;
  readonly unreported: UnreportedWrites;
  /** The clusters of the run by identity. */
  readonly clusters: ReadonlyMap<string, SimulatedCluster>;
}

/** An Outcome says what the API server has stored, and nothing else. */
export class OutcomeInvariants {
  readonly #options: OutcomeInvariantsOptions;

  constructor(options: OutcomeInvariantsOptions) {
    this.#options = options;
  }

  check(member: string, partition: number, outcome: Outcome): void {
    const { plans, clusters, observations, unreported } = this.#options;
    plans.answered(partition, outcome.plan);
    const concealed = unreported.concealedBy(member, outcome);
    const name = planName(partition, outcome.plan);
    const plan = plans.get(name);
    const cluster = clusters.get(outcome.key.cluster);
    if (!observations.conditions.isIntact) return;
    const report = (what: string) =>
      this.#options.violations.report(
        'Outcomes tell the truth',
        `${member}, plan ${name} of ${outcome.key.service}: ${what}`,
      );
    if (plan === undefined || cluster === undefined) return report('nobody has committed it');
    if (concealed !== undefined) report(concealed);
    const mutations = plan.groups.reduce((sum, group) => sum + group.mutations.length, 0);
    const applied = outcome.results.filter(({ status }) => status === 'applied').length;
    if (outcome.status === 'applied' && applied !== mutations)
      report(`applied, with ${applied} of ${mutations} mutations`);
    if (outcome.status !== 'applied' && mutations > 0 && applied === mutations)
      report(`${outcome.status}, though all is applied`);
    const after = resultAfterFailure(outcome);
    if (after !== undefined)
      report(`${after.verb} ${after.resource} ${after.name} was sent after a failure in its group`);
    for (const result of outcome.results) {
      const decidedAt = observations.conditions.hasSystemTime ? plan.decidedAt : 0;
      const what = untrue({ ...plan, decidedAt }, result, cluster);
      if (what !== undefined) report(`${result.verb} ${result.resource} ${result.name} ${result.status}, but ${what}`);
    }
  }
}

/** A mutation that followed a failed one in its group. The mutations of a group run in order, up to the first failure. */
function resultAfterFailure({ results }: Outcome): MutationResult | undefined {
  return results.find(({ group, index }) =>
    results.some((before) => before.group === group && before.index < index && before.status !== 'applied'),
  );
}

/** Why a result is untrue; undefined if it is true. */
function untrue(plan: PlannedMutations, result: MutationResult, cluster: SimulatedCluster): string | undefined {
  const { group, index, verb, resource, name, status, stored, current } = result;
  const mutation = plan.groups[group]?.mutations[index];
  if (mutation?.verb !== verb || mutation.resource !== resource) return 'the plan has no such mutation';
  const versions = cluster.versions.get(`${resource}/${plan.key.namespace}/${name}`) ?? [];
  if (status === 'applied' && mutation.verb === 'delete') {
    const { uid } = mutation;
    const { object } = versions.at(-1) ?? {};
    if (object === undefined || uid === undefined || object.metadata.uid !== uid) return undefined;
    // A finalizer holds the deletion back, as the response has said.
    const isHeld = object.metadata.deletionTimestamp !== undefined && Boolean(current);
    return isHeld ? undefined : 'it exists';
  }
  if (status === 'applied') {
    if (stored === undefined) return 'nothing is known of the stored object';
    const version = versionOf(versions, stored.resourceVersion);
    if (version === undefined) return `resourceVersion ${stored.resourceVersion} never existed`;
    if (version.metadata.uid !== stored.uid) return `uid ${stored.uid} never existed`;
    if (mutation.verb !== 'delete' && !hasContent(version, mutation.object)) return 'it stores something else';
  }
  if (current === null) return isAbsentSince(versions, plan.decidedAt) ? undefined : 'it exists';
  if (current === undefined) return undefined;
  const version = versionOf(versions, current.metadata.resourceVersion ?? '');
  if (version === undefined) return `its current resourceVersion ${current.metadata.resourceVersion} never existed`;
  return hasContent(version, current) ? undefined : 'the current object is another one';
}

const versionOf = (versions: readonly ObjectVersion[], resourceVersion: string) =>
  versions
    .map(({ object, last }) => object ?? last)
    .find((object) => object?.metadata.resourceVersion === resourceVersion);

/** Whether the object did not exist at some time since. */
function isAbsentSince(versions: readonly ObjectVersion[], sinceMs: number): boolean {
  const before = versions.findLast(({ atMs }) => atMs < sinceMs);
  if (before?.object === undefined) return true;
  return versions.some(({ atMs, object }) => atMs >= sinceMs && object === undefined);
}

/** Compares the addresses, which every other mistake changes sooner or later. */
function hasContent(stored: object, object: object): boolean {
  return addressesOf(stored) === addressesOf(object);
}

function addressesOf(object: object): string {
  const { endpoints, subsets } = object as { endpoints?: unknown; subsets?: unknown };
  const found: string[] = [];
  JSON.stringify([endpoints ?? null, subsets ?? null], (key, value: unknown) => {
    if (key === 'addresses' && Array.isArray(value))
      found.push(...value.map((one) => (typeof one === 'string' ? one : '')));
    if (key === 'ip' || key === 'ready') found.push(String(value));
    return value;
  });
  return found.sort().join();
}
