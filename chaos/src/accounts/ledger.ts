import type { Mutation } from '@sluice/controllers';
import { comparePlans, formatServiceKey, type PlanId, type PlannedMutations } from '@sluice/messages';
import { essence } from './essence.ts';
import type { Violation } from './violation.ts';
import type { Write } from './write.ts';

/** One mutation of a plan. */
interface Entry {
  /** Service and controller: one plan of them is applied after the other. */
  readonly line: string;
  readonly plan: PlanId;
  /** Which of the plan's mutations. */
  readonly place: string;
  used: boolean;
}

interface Accounted {
  readonly write: Write;
  readonly entry: Entry;
}

/**
 * Holds what was planned against what was written. Every write that the API server took must be one that a plan asked for,
 * no mutation may be carried out twice, and no plan of a Service and controller may begin after a later one has ended
 * something: an earlier number, or an owner that was replaced.
 */
export class Ledger {
  readonly #planned = new Map<string, Entry[]>();
  readonly #seen = new Set<string>();

  /** How many plans there are. */
  get plans(): number {
    return this.#seen.size;
  }

  /** May be told of a plan more than once. Returns whether it is a new one. */
  planned(message: PlannedMutations): boolean {
    const { key, controller, plan, groups } = message;
    const line = `${formatServiceKey(key)} ${controller}`;
    const name = `${line} ${showPlan(plan)}`;
    if (this.#seen.has(name)) return false;
    this.#seen.add(name);
    for (const [group, { mutations }] of groups.entries()) {
      for (const [index, mutation] of mutations.entries()) {
        const asked = signatureOf(mutation, key.namespace);
        const entries = this.#planned.get(asked) ?? [];
        entries.push({ line, plan, place: `${name} ${group}.${index}`, used: false });
        this.#planned.set(asked, entries);
      }
    }
    return true;
  }

  /** What is wrong with these writes, which are all that was written so far. Those that were refused changed nothing. */
  check(writes: readonly Write[]): readonly Violation[] {
    for (const entries of this.#planned.values()) for (const entry of entries) entry.used = false;
    const violations: Violation[] = [];
    const accounted: Accounted[] = [];
    const marks = new Map<string, PlanId>();
    for (const write of writes.filter(isDone).sort((a, b) => a.receivedAt - b.receivedAt)) {
      const entries = this.#planned.get(signature(write)) ?? [];
      const entry =
        entries.find(({ used, line, plan }) => !used && isAtLeast(plan, marks.get(line))) ??
        entries.find(({ used }) => !used);
      if (entry === undefined) {
        const [first] = entries;
        if (first !== undefined && isWithoutEffect(write)) continue;
        violations.push(
          first === undefined
            ? { what: 'unaccounted write', where: where(write), evidence: `no plan asks for ${show(write)}` }
            : { what: 'applied twice', where: where(write), evidence: `${first.place} again: ${show(write)}` },
        );
        continue;
      }
      entry.used = true;
      if (isAtLeast(entry.plan, marks.get(entry.line))) marks.set(entry.line, entry.plan);
      accounted.push({ write, entry });
    }
    return [...violations, ...outOfOrder(accounted)];
  }
}

/** Writes that began after one of a later plan of the same Service and controller was done. */
function outOfOrder(accounted: readonly Accounted[]): Violation[] {
  const lines = new Map<string, Accounted[]>();
  for (const each of accounted) {
    const line = lines.get(each.entry.line) ?? [];
    line.push(each);
    lines.set(each.entry.line, line);
  }
  return [...lines.values()].flatMap((line) => {
    const byAnswer = [...line].sort((a, b) => a.write.answeredAt - b.write.answeredAt);
    let done = 0;
    let newest: Accounted | undefined;
    return line.flatMap(({ write, entry }): Violation[] => {
      for (
        let next = byAnswer[done];
        next !== undefined && next.write.answeredAt < write.receivedAt;
        next = byAnswer[++done]
      ) {
        if (newest === undefined || comparePlans(next.entry.plan, newest.entry.plan) > 0) newest = next;
      }
      if (newest === undefined || isAtLeast(entry.plan, newest.entry.plan)) return [];
      const evidence = `${show(write)} by ${entry.place} after ${show(newest.write)} by ${newest.entry.place}`;
      return [{ what: 'out of order', where: where(write), evidence }];
    });
  });
}

export const isDone = ({ code }: Write): boolean => code >= 200 && code < 300;

/** An update that stored nothing new keeps the version: whoever repeats it meets the same precondition. */
const isWithoutEffect = ({ verb, precondition, stored }: Write): boolean =>
  verb === 'update' && precondition !== '' && stored === precondition;

const isAtLeast = (plan: PlanId, mark: PlanId | undefined): boolean =>
  mark === undefined || comparePlans(plan, mark) >= 0;

const showPlan = ({ epoch, number }: PlanId): string => `${epoch}/${number}`;
const where = ({ resource, namespace, name }: Write): string => `${resource} ${namespace}/${name}`;

function show({ verb, precondition, stored, receivedAt, auditId }: Write): string {
  const versions =
    verb === 'delete' ? `of version ${precondition || 'any'}` : `${precondition || 'nothing'} → ${stored}`;
  return `${verb} ${versions} at ${new Date(receivedAt).toISOString()} (audit ${auditId})`;
}

function signature({ verb, resource, namespace, name, precondition, essence }: Write): string {
  return [verb, resource, `${namespace}/${name}`, verb === 'create' ? '' : precondition, essence].join(' ');
}

function signatureOf(mutation: Mutation, namespace: string): string {
  const { verb, resource } = mutation;
  if (mutation.verb === 'delete') {
    return [verb, resource, `${namespace}/${mutation.name}`, mutation.resourceVersion ?? '', ''].join(' ');
  }
  const { name, resourceVersion = '' } = mutation.object.metadata;
  const precondition = verb === 'create' ? '' : resourceVersion;
  return [verb, resource, `${namespace}/${name}`, precondition, essence(resource, mutation.object)].join(' ');
}
