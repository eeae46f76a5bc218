import type { BusRecord } from '@sluice/bus';
import { comparePlans, formatServiceKey, type PlanId, type PlannedMutations } from '@sluice/messages';
import type { Mutation } from '@sluice/model';
import type { StoredEntry } from '@sluice/store';
import type { Violations } from '../violations.ts';
import { decode } from './decode.ts';
import { type Observations, planName } from './observations.ts';

/** The committed plans: one per number, rising, of the owner's fencing token, and published only after the commit. */
export class PlanInvariants {
  readonly #observations: Observations;
  readonly #violations: Violations;
  readonly #plans = new Map<string, { readonly plan: PlannedMutations; readonly content: string }>();
  /** Plans by the signature of their mutations. */
  readonly #bySignature = new Map<string, PlannedMutations[]>();
  /** The last plan to create a slice, by cluster and the slice's namespace and name. */
  readonly #bySlice = new Map<string, PlannedMutations>();
  /** Committed plans that were not sent yet: names by number, by partition and epoch. */
  readonly #unsent = new Map<string, Map<number, string>>();
  /** Plans with an Outcome on its way. */
  readonly #answered = new Set<string>();
  /** The stored plan in flight by partition, key and field. */
  readonly #inFlight = new Map<string, string>();
  /** Highest committed plan number by partition and epoch. */
  readonly #last = new Map<string, number>();

  constructor(observations: Observations, violations: Violations) {
    this.#observations = observations;
    this.#violations = violations;
  }

  get(name: string): PlannedMutations | undefined {
    return this.#plans.get(name)?.plan;
  }

  /** The plans that contain the mutation, preferably of this cluster; the newest one comes first. */
  withMutation(mutation: Mutation, cluster: string): readonly PlannedMutations[] {
    const plans = (this.#bySignature.get(signature(mutation)) ?? []).toReversed();
    const ofCluster = plans.filter(({ key }) => key.cluster === cluster);
    return ofCluster.length > 0 ? ofCluster : plans;
  }

  /** The last plan that contains the creation of this slice, `namespace/name`. */
  ofSlice(cluster: string, slice: string): PlannedMutations | undefined {
    return this.#bySlice.get(`${cluster} ${slice}`);
  }

  committed(partition: number, fencingToken: number, entries: readonly StoredEntry[]): void {
    const plans = entries.flatMap(({ field, value }) =>
      /^controller\/.*:plan$/.test(field) && value !== undefined ? [value as PlannedMutations] : [],
    );
    for (const plan of plans.sort((a, b) => comparePlans(a.plan, b.plan)))
      this.#commitPlan(partition, fencingToken, plan);
    for (const entry of entries) this.#checkFinished(partition, entry);
    for (const { key, field, value } of entries) {
      if (key === 'partition' && field === 'publishedPlan')
        this.#checkPublished(partition, fencingToken, Number(value));
    }
  }

  sent(member: string, partition: number, plan: PlannedMutations): void {
    const name = planName(partition, plan.plan);
    const committed = this.#plans.get(name);
    const { isIntact } = this.#observations.conditions;
    if (committed === undefined && isIntact)
      this.#violations.report('commit before publish', `${member} publishes plan ${name}, which is not committed`);
    if (committed !== undefined && committed.content !== contentOf(plan))
      this.#violations.report('one plan per number', `${member} publishes another plan ${name} than it committed`);
    this.#unsent.get(seriesOf(partition, plan.plan))?.delete(plan.plan.number);
  }

  /** A record arrives within its process before any log has it. */
  delivered(partition: number, { payload }: BusRecord): void {
    const message = decode(payload);
    if (message.kind === 'outcome') this.answered(partition, message.plan);
  }

  /** An Outcome of the plan leaves a writer. */
  answered(partition: number, plan: PlanId): void {
    this.#answered.add(planName(partition, plan));
  }

  /** A plan ends with its own Outcome only. */
  #checkFinished(partition: number, { key, field, value }: StoredEntry): void {
    if (!/^controller\/.*:plan$/.test(field)) return;
    const place = `${partition} ${key} ${field}`;
    const before = this.#inFlight.get(place);
    const after = value === undefined ? undefined : planName(partition, (value as PlannedMutations).plan);
    if (after === undefined) this.#inFlight.delete(place);
    else this.#inFlight.set(place, after);
    const { isIntact, isRepaired } = this.#observations.conditions;
    if (before === undefined || before === after || !isIntact) return;
    if (this.#unsent.values().some((names) => names.values().some((name) => name === before)))
      this.#violations.report('the log has every plan', `plan ${before} of ${key} has ended, and no log has it`);
    // A state that digests have found wrong drops its plan.
    if (this.#answered.has(before) || isRepaired) return;
    this.#violations.report('a plan ends with its Outcome', `plan ${before} of ${key} has ended without one`);
  }

  #commitPlan(partition: number, fencingToken: number, plan: PlannedMutations): void {
    const name = planName(partition, plan.plan);
    const content = contentOf(plan);
    const known = this.#plans.get(name);
    const { isIntact } = this.#observations.conditions;
    if (known !== undefined) {
      if (isIntact && known.content !== content)
        this.#violations.report('one plan per number', `plan ${name} is committed with two contents`);
      return;
    }
    const series = seriesOf(partition, plan.plan);
    if (isIntact && plan.plan.number <= (this.#last.get(series) ?? 0))
      this.#violations.report('plan numbers increase', `plan ${name} is committed after a later one`);
    if (isIntact && plan.plan.epoch !== fencingToken)
      this.#violations.report('current fencing token', `plan ${name} is committed under fencing token ${fencingToken}`);
    this.#last.set(series, plan.plan.number);
    this.#plans.set(name, { plan, content });
    const unsent = this.#unsent.get(series) ?? new Map<number, string>();
    this.#unsent.set(series, unsent.set(plan.plan.number, name));
    for (const mutation of plan.groups.flatMap(({ mutations }) => mutations)) {
      if (mutation.verb === 'create' && mutation.resource === 'endpointslices')
        this.#bySlice.set(`${plan.key.cluster} ${plan.key.namespace}/${mutation.object.metadata.name}`, plan);
      const id = signature(mutation);
      const plans = this.#bySignature.get(id);
      if (plans === undefined) this.#bySignature.set(id, [plan]);
      else plans.push(plan);
    }
  }

  /** A plan counts as published only once it is on the bus. */
  #checkPublished(partition: number, epoch: number, number: number): void {
    if (!this.#observations.conditions.isIntact) return;
    const unsent = this.#unsent.get(seriesOf(partition, { epoch, number }));
    for (const [ofPlan, name] of unsent ?? []) {
      if (ofPlan > number) continue;
      this.#violations.report('commit before publish', `plan ${name} counts as published and was never sent`);
      unsent?.delete(ofPlan);
    }
  }
}

export function signature(mutation: Mutation): string {
  const { verb, resource } = mutation;
  if (mutation.verb === 'delete') {
    return `${verb} ${resource} ${mutation.name} ${mutation.uid} ${mutation.resourceVersion}`;
  }
  return `${verb} ${resource} ${mutation.object.metadata.name} ${canonical(mutation.object)}`;
}

const seriesOf = (partition: number, { epoch }: PlanId): string => `${partition}/${epoch}`;

const contents = new WeakMap<PlannedMutations, string>();

/** A plan that is sent again is the same object. */
function contentOf(given: PlannedMutations): string {
  const { key, controller, plan, groups } = given;
  const content = contents.get(given) ?? canonical([formatServiceKey(key), controller, plan, groups]);
  contents.set(given, content);
  return content;
}

/** JSON in which the order of an object's keys has no meaning: a message by reference has another one than its decoded bytes. */
function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const parts: string[] = [];
  for (const [key, part] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    if (part !== undefined) parts.push(`${JSON.stringify(key)}:${canonical(part)}`);
  return `{${parts.join()}}`;
}
