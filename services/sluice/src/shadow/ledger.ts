import type { Controller } from '@sluice/controllers';
import { formatServiceKey, type PlannedMutations, type ServiceKey } from '@sluice/messages';
import { contentOf } from './plan-content.ts';
import { Samples } from './samples.ts';

/** A plan that Sluice would carry out, and that the cluster does not agree with yet. */
export interface Pending<Finding> {
  readonly key: ServiceKey;
  readonly controller: Controller;
  readonly plan: PlannedMutations;
  /** When Sluice first came to just this, in milliseconds since the Unix epoch. */
  readonly since: number;
  /** The genuine controller's handlers overlook what has led to it (C12–C14, D3, E3, H1). */
  readonly overlooked: boolean;
  /** When the watcher was asked to tell the Service again, to be sure; null: not yet. */
  askedAt: number | null;
  /** What came of looking at it; null: nobody has. */
  finding: Finding | null;
}

interface Stand<Finding> {
  pending: Pending<Finding> | null;
  content: string;
  decidedAt: number;
  /** When somebody else last wrote what this controller writes. */
  wroteAt: number;
  noticedAt: number;
  overlookedAt: number;
}

/** So long after something was noticed, a write may be what came of that. */
const answerMs = 1_000;

/**
 * What Sluice would do with each Service, against what the genuine controllers do with it: who was first, and what they do
 * not agree on. Pure bookkeeping; times are the caller's.
 */
export class ShadowLedger<Finding> {
  readonly sooner = new Samples();
  readonly later = new Samples();
  decisions = 0;
  /** Writes of others that were seen. */
  writes = 0;
  /** Plans that came to nothing because what they were for was undone before anybody wrote. */
  withdrawn = 0;
  readonly #stands = new Map<string, Map<Controller, Stand<Finding>>>();
  readonly #pending = new Set<Pending<Finding>>();
  readonly #services = new Set<string>();
  readonly #onResolved: (pending: Pending<Finding>, leadMs: number | null) => void;

  /** `onResolved`: a plan is no longer wanted; `leadMs`: by how much Sluice was sooner, null if nobody wrote. */
  constructor(onResolved: (pending: Pending<Finding>, leadMs: number | null) => void = () => {}) {
    this.#onResolved = onResolved;
  }

  /** How many Services there are. */
  get services(): number {
    return this.#services.size;
  }

  get pending(): Iterable<Pending<Finding>> {
    return this.#pending;
  }

  /** Somebody wrote an object that the controller writes. */
  wrote(key: ServiceKey, controller: Controller, at: number): void {
    this.writes++;
    this.#stand(key, controller).wroteAt = at;
  }

  /** Something happened that makes the genuine controller look at the Service. */
  noticed(key: ServiceKey, controller: Controller, at: number): void {
    this.#stand(key, controller).noticedAt = at;
  }

  /** Something happened that the genuine controller's handlers overlook. */
  overlooked(key: ServiceKey, controller: Controller, at: number): void {
    this.#stand(key, controller).overlookedAt = at;
  }

  /** What the controller writes has changed. If nothing led to that, somebody else did it, and it is overlooked (D3). */
  edited(key: ServiceKey, controller: Controller, at: number): void {
    const stand = this.#stand(key, controller);
    if (stand.pending === null && at - stand.noticedAt > answerMs) stand.overlookedAt = at;
  }

  /** What Sluice would do now; undefined: nothing, the cluster is as it should be. */
  decided(key: ServiceKey, controller: Controller, plan: PlannedMutations | undefined, at: number): void {
    this.decisions++;
    const stand = this.#stand(key, controller);
    const wants = plan?.groups.some(({ mutations }) => mutations.length > 0) ? plan : undefined;
    if (wants !== undefined) this.#want(stand, key, controller, wants, at);
    else if (stand.pending !== null) this.#resolve(stand);
    else if (stand.wroteAt > stand.decidedAt && stand.decidedAt > 0) this.later.add(at - stand.wroteAt);
    // What was overlooked has changed nothing.
    if (wants === undefined) stand.overlookedAt = 0;
    stand.decidedAt = at;
  }

  /** The cluster holds what the plan wants after all, only in other words. */
  settle(pending: Pending<Finding>): void {
    const stand = this.#stands.get(formatServiceKey(pending.key))?.get(pending.controller);
    if (stand?.pending !== pending) return;
    stand.pending = null;
    this.#pending.delete(pending);
  }

  /** Whether the Service exists. */
  exists(key: ServiceKey, exists: boolean): void {
    if (exists) this.#services.add(formatServiceKey(key));
    else this.#services.delete(formatServiceKey(key));
  }

  /** Forgets Services that are gone and left nothing behind to be done. */
  prune(): void {
    for (const [key, stands] of this.#stands) {
      if (this.#services.has(key)) continue;
      if ([...stands.values()].every(({ pending }) => pending === null)) this.#stands.delete(key);
    }
  }

  #want(stand: Stand<Finding>, key: ServiceKey, controller: Controller, plan: PlannedMutations, at: number): void {
    const content = contentOf(plan);
    const before = stand.pending;
    const same = before !== null && stand.content === content;
    if (before !== null) this.#pending.delete(before);
    const overlooked = stand.overlookedAt > stand.noticedAt;
    stand.pending = {
      ...{ key, controller },
      // Told again, its cause would be that.
      plan: same ? { ...plan, causes: before.plan.causes } : plan,
      since: same ? before.since : at,
      overlooked: same ? before.overlooked && overlooked : overlooked,
      askedAt: same ? before.askedAt : null,
      finding: same ? before.finding : null,
    };
    stand.content = content;
    this.#pending.add(stand.pending);
  }

  #resolve(stand: Stand<Finding>): void {
    const { pending } = stand;
    if (pending === null) return;
    this.#pending.delete(pending);
    stand.pending = null;
    const lead = stand.wroteAt >= pending.since ? stand.wroteAt - pending.since : null;
    if (lead === null) this.withdrawn++;
    else this.sooner.add(lead);
    this.#onResolved(pending, lead);
  }

  #stand(key: ServiceKey, controller: Controller): Stand<Finding> {
    const text = formatServiceKey(key);
    let stands = this.#stands.get(text);
    if (stands === undefined) {
      stands = new Map();
      this.#stands.set(text, stands);
    }
    let stand = stands.get(controller);
    if (stand === undefined) {
      stand = { pending: null, content: '', decidedAt: 0, wroteAt: 0, noticedAt: 0, overlookedAt: 0 };
      stands.set(controller, stand);
    }
    return stand;
  }
}
