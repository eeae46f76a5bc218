import { comparePlans, formatServiceKey, type PlanId, type PlannedMutations } from '@sluice/messages';
import type { Mutation } from '@sluice/model';
import { contentDigest } from './content-digest.ts';
import type { Violation } from './violation.ts';
import type { Write } from './write.ts';

/** One mutation of a plan. */
interface PlannedMutation {
  /** Service and controller. Their plans are applied one at a time. */
  readonly workKey: string;
  readonly plan: PlanId;
  /** Identifies the mutation within its plan. */
  readonly label: string;
  matched: boolean;
}

interface MatchedWrite {
  readonly write: Write;
  readonly entry: PlannedMutation;
}

/**
 * Matches the writes in the audit log with the mutations of plans. Every accepted write must be a planned mutation,
 * none may be applied twice, and no plan may start after a later one of the same work key has written something, be it
 * later by number or by owner.
 */
export class AuditMatcher {
  readonly #planned = new Map<string, PlannedMutation[]>();
  readonly #seen = new Set<string>();

  /** Number of distinct plans. */
  get planCount(): number {
    return this.#seen.size;
  }

  /** Adds a plan. Returns whether it is new; duplicates are ignored. */
  addPlan(message: PlannedMutations): boolean {
    const { key, controller, plan, groups } = message;
    const workKey = `${formatServiceKey(key)} ${controller}`;
    const name = `${workKey} ${showPlan(plan)}`;
    if (this.#seen.has(name)) return false;
    this.#seen.add(name);
    for (const [group, { mutations }] of groups.entries()) {
      for (const [index, mutation] of mutations.entries()) {
        const asked = signatureOf(mutation, key.namespace);
        const entries = this.#planned.get(asked) ?? [];
        entries.push({ workKey, plan, label: `${name} ${group}.${index}`, matched: false });
        this.#planned.set(asked, entries);
      }
    }
    return true;
  }

  /**
   * Returns the violations among these writes, which must be all writes so far. Rejected writes changed nothing and are
   * ignored. `others` know the plans for other clusters.
   */
  check(writes: readonly Write[], others: readonly AuditMatcher[] = []): readonly Violation[] {
    for (const entries of this.#planned.values()) for (const entry of entries) entry.matched = false;
    const violations: Violation[] = [];
    const accounted: MatchedWrite[] = [];
    const marks = new Map<string, PlanId>();
    for (const write of writes.filter(isAccepted).sort((a, b) => a.receivedAt - b.receivedAt)) {
      const entries = this.#planned.get(signature(write)) ?? [];
      const entry =
        entries.find(({ matched, workKey, plan }) => !matched && isAtLeast(plan, marks.get(workKey))) ??
        entries.find(({ matched }) => !matched);
      if (entry === undefined) {
        const [first] = entries;
        if (first !== undefined && isWithoutEffect(write)) continue;
        const foreign = others.flatMap((other) => other.#planned.get(signature(write)) ?? []);
        violations.push(unexplained(write, first, foreign[0]));
        continue;
      }
      entry.matched = true;
      if (isAtLeast(entry.plan, marks.get(entry.workKey))) marks.set(entry.workKey, entry.plan);
      accounted.push({ write, entry });
    }
    return [...violations, ...outOfOrder(accounted)];
  }
}

function unexplained(write: Write, own?: PlannedMutation, foreign?: PlannedMutation): Violation {
  const place = where(write);
  if (own !== undefined) {
    return { what: 'applied twice', where: place, evidence: `${own.label} again: ${show(write)}` };
  }
  if (foreign !== undefined) {
    return { what: 'crossed clusters', where: place, evidence: `${foreign.label}: ${show(write)}` };
  }
  return { what: 'unplanned write', where: place, evidence: `no plan contains ${show(write)}` };
}

/** Writes that started after a write of a later plan with the same work key was complete. */
function outOfOrder(accounted: readonly MatchedWrite[]): Violation[] {
  const lines = new Map<string, MatchedWrite[]>();
  for (const each of accounted) {
    const line = lines.get(each.entry.workKey) ?? [];
    line.push(each);
    lines.set(each.entry.workKey, line);
  }
  return [...lines.values()].flatMap((line) => {
    const byAnswer = [...line].sort((a, b) => a.write.answeredAt - b.write.answeredAt);
    let done = 0;
    let newest: MatchedWrite | undefined;
    return line.flatMap(({ write, entry }): Violation[] => {
      for (
        let next = byAnswer[done];
        next !== undefined && next.write.answeredAt < write.receivedAt;
        next = byAnswer[++done]
      ) {
        if (newest === undefined || comparePlans(next.entry.plan, newest.entry.plan) > 0) newest = next;
      }
      if (newest === undefined || isAtLeast(entry.plan, newest.entry.plan)) return [];
      const evidence = `${show(write)} by ${entry.label} after ${show(newest.write)} by ${newest.entry.label}`;
      return [{ what: 'out of order', where: where(write), evidence }];
    });
  });
}

export const isAccepted = ({ code }: Write): boolean => code >= 200 && code < 300;

/** An update without effect keeps the resourceVersion, so it can be repeated with the same precondition. */
const isWithoutEffect = ({ verb, precondition, stored }: Write): boolean =>
  verb === 'update' && precondition !== '' && stored === precondition;

const isAtLeast = (plan: PlanId, mark: PlanId | undefined): boolean =>
  mark === undefined || comparePlans(plan, mark) >= 0;

const showPlan = ({ epoch, number }: PlanId): string => `${epoch}/${number}`;
const where = ({ resource, namespace, name }: Write): string => `${resource} ${namespace}/${name}`;

function show({ verb, precondition, stored, receivedAt, auditId }: Write): string {
  const versions =
    verb === 'delete' ? `with resourceVersion ${precondition || 'any'}` : `${precondition || 'nothing'} → ${stored}`;
  return `${verb} ${versions} at ${new Date(receivedAt).toISOString()} (audit ${auditId})`;
}

function signature({ verb, resource, namespace, name, precondition, contentDigest }: Write): string {
  return [verb, resource, `${namespace}/${name}`, verb === 'create' ? '' : precondition, contentDigest].join(' ');
}

function signatureOf(mutation: Mutation, namespace: string): string {
  const { verb, resource } = mutation;
  if (mutation.verb === 'delete') {
    return [verb, resource, `${namespace}/${mutation.name}`, mutation.resourceVersion ?? '', ''].join(' ');
  }
  const { name, resourceVersion = '' } = mutation.object.metadata;
  const precondition = verb === 'create' ? '' : resourceVersion;
  return [verb, resource, `${namespace}/${name}`, precondition, contentDigest(resource, mutation.object)].join(' ');
}
