import { formatServiceKey, type PlannedMutations, type ServiceKey } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { contentOf } from './apply-plan.ts';
import { Samples } from './samples.ts';

/** A plan that Sluice would apply and that the cluster does not match yet. */
export interface PendingDiff<Finding> {
  readonly key: ServiceKey;
  readonly controller: Controller;
  readonly plan: PlannedMutations;
  /** When Sluice first made this decision, in milliseconds since the Unix epoch. */
  readonly since: number;
  /** The upstream controller's event handlers ignore the change that led to it (C12–C14, D3, E3, H1). */
  readonly overlooked: boolean;
  /** When a resync of the Service was requested to rule out stale state; null: not yet. */
  resyncRequestedAt: number | null;
  /** Result of the comparison; null: not compared yet. */
  finding: Finding | null;
}

interface ControllerRecord<Finding> {
  pending: PendingDiff<Finding> | null;
  content: string;
  decidedAt: number;
  /** Time of the last observed write to an object of this controller. Sluice itself writes nothing. */
  wroteAt: number;
  noticedAt: number;
  overlookedAt: number;
}

/** A write within this time of a noticed change counts as the reaction to it. */
const reactionMs = 1_000;

/**
 * Matches Sluice's decisions per Service and controller with the writes of the upstream controllers: which came first, and
 * where they disagree. Pure; the caller supplies all times.
 */
export class DiffTracker<Finding> {
  readonly sooner = new Samples();
  readonly later = new Samples();
  decisions = 0;
  /** Writes by other controllers. */
  writes = 0;
  /** Plans withdrawn because their cause was undone before anyone wrote. */
  withdrawn = 0;
  readonly #records = new Map<string, Map<Controller, ControllerRecord<Finding>>>();
  readonly #pending = new Set<PendingDiff<Finding>>();
  readonly #services = new Set<string>();
  readonly #onResolved: (pending: PendingDiff<Finding>, leadMs: number | null) => void;

  /** `onResolved` is called when a pending plan is resolved; `leadMs` is Sluice's lead, or null if no controller wrote. */
  constructor(onResolved: (pending: PendingDiff<Finding>, leadMs: number | null) => void = () => {}) {
    this.#onResolved = onResolved;
  }

  /** Number of existing Services. */
  get services(): number {
    return this.#services.size;
  }

  get pending(): Iterable<PendingDiff<Finding>> {
    return this.#pending;
  }

  /** An upstream controller or a user wrote an object of this controller. */
  wrote(key: ServiceKey, controller: Controller, at: number): void {
    this.writes++;
    this.#record(key, controller).wroteAt = at;
  }

  /** A change made the upstream controller enqueue the Service. */
  noticed(key: ServiceKey, controller: Controller, at: number): void {
    this.#record(key, controller).noticedAt = at;
  }

  /** A change happened that the upstream controller's event handlers ignore. */
  overlooked(key: ServiceKey, controller: Controller, at: number): void {
    this.#record(key, controller).overlookedAt = at;
  }

  /** An object of the controller changed. Without a recent noticed change this is an edit by a user, which upstream ignores (D3). */
  edited(key: ServiceKey, controller: Controller, at: number): void {
    const record = this.#record(key, controller);
    if (record.pending === null && at - record.noticedAt > reactionMs) record.overlookedAt = at;
  }

  /** Sluice's current decision; `plan` is undefined if the cluster needs no write. */
  decided(key: ServiceKey, controller: Controller, plan: PlannedMutations | undefined, at: number): void {
    this.decisions++;
    const record = this.#record(key, controller);
    const wanted = plan?.groups.some(({ mutations }) => mutations.length > 0) ? plan : undefined;
    if (wanted !== undefined) this.#want(record, key, controller, wanted, at);
    else if (record.pending !== null) this.#resolve(record);
    else if (record.wroteAt > record.decidedAt && record.decidedAt > 0) this.later.add(at - record.wroteAt);
    // The ignored change had no effect on the desired state.
    if (wanted === undefined) record.overlookedAt = 0;
    record.decidedAt = at;
  }

  /** Drops a pending plan because the cluster already matches it semantically. */
  discard(pending: PendingDiff<Finding>): void {
    const record = this.#records.get(formatServiceKey(pending.key))?.get(pending.controller);
    if (record?.pending !== pending) return;
    record.pending = null;
    this.#pending.delete(pending);
  }

  /** Records whether the Service exists. */
  exists(key: ServiceKey, exists: boolean): void {
    if (exists) this.#services.add(formatServiceKey(key));
    else this.#services.delete(formatServiceKey(key));
  }

  /** Removes deleted Services without pending plans. */
  prune(): void {
    for (const [key, records] of this.#records) {
      if (this.#services.has(key)) continue;
      if ([...records.values()].every(({ pending }) => pending === null)) this.#records.delete(key);
    }
  }

  #want(
    record: ControllerRecord<Finding>,
    key: ServiceKey,
    controller: Controller,
    plan: PlannedMutations,
    at: number,
  ): void {
    const content = contentOf(plan);
    const before = record.pending;
    const same = before !== null && record.content === content;
    if (before !== null) this.#pending.delete(before);
    const overlooked = record.overlookedAt > record.noticedAt;
    record.pending = {
      key,
      controller,
      // Keeps the original causes: after a resync the cause would be the resync.
      plan: same ? { ...plan, causes: before.plan.causes } : plan,
      since: same ? before.since : at,
      overlooked: same ? before.overlooked && overlooked : overlooked,
      resyncRequestedAt: same ? before.resyncRequestedAt : null,
      finding: same ? before.finding : null,
    };
    record.content = content;
    this.#pending.add(record.pending);
  }

  #resolve(record: ControllerRecord<Finding>): void {
    const { pending } = record;
    if (pending === null) return;
    this.#pending.delete(pending);
    record.pending = null;
    const lead = record.wroteAt >= pending.since ? record.wroteAt - pending.since : null;
    if (lead === null) this.withdrawn++;
    else this.sooner.add(lead);
    this.#onResolved(pending, lead);
  }

  #record(key: ServiceKey, controller: Controller): ControllerRecord<Finding> {
    const text = formatServiceKey(key);
    let records = this.#records.get(text);
    if (records === undefined) {
      records = new Map();
      this.#records.set(text, records);
    }
    let record = records.get(controller);
    if (record === undefined) {
      record = { pending: null, content: '', decidedAt: 0, wroteAt: 0, noticedAt: 0, overlookedAt: 0 };
      records.set(controller, record);
    }
    return record;
  }
}
