import type { Delivery, Topic } from '@sluice/bus';
import {
  type Change,
  type ClusterRemoved,
  compareStamps,
  formatServiceKey,
  isServiceKey,
  isStamp,
  parseServiceKey,
  type ResyncRequest,
  type Stamp,
} from '@sluice/messages';
import type { Commit, NewDeadLetter, ScopeState } from '@sluice/store';
import type { Violations } from '../violations.ts';
import type { Conditions } from './conditions.ts';
import { decode } from './decode.ts';

/** How long a request may be pending, in milliseconds. */
const pendingMs = 10_000;

/** When a Change that reveals a gap was delivered, and at which offset of the log; undefined: before the log had it. */
interface Revealed {
  readonly at: number;
  readonly offset: number | undefined;
}

/** What a reconciler knows of a partition that it has claimed. */
interface Claim {
  /** Whether nothing has ever been committed. */
  readonly isNew: boolean;
  /** A possible loss for which no resync of the partition has been requested yet. */
  loss: string | undefined;
  /** Whether a resync of the partition was requested. */
  isResynced: boolean;
  /** Clusters with a gap, and when the first one was delivered. */
  readonly incompleteSince: Map<string, Revealed>;
  /** Services of which a snapshot has ended since. */
  readonly complete: Set<string>;
  /** When the next gap was delivered after such a snapshot. */
  readonly completeUntil: Map<string, Revealed>;
  /** Stamp of the last Change by cluster. */
  readonly last: Map<string, Stamp>;
  /** The first Change after a gap, by cluster, while no resync has been requested. */
  readonly gaps: Map<string, Stamp>;
}

/** A reconciler that has lost messages or state requests a resync before it commits, and decides nothing before the answer. */
export class LossInvariants {
  readonly #violations: Violations;
  /** Once logs or stored state contain what no process can read, it is unknown which Change is the last one. */
  readonly #conditions: Pick<Conditions, 'isReadable'>;
  /** By member and scope. */
  readonly #claims = new Map<string, Claim>();
  readonly #plans = new Set<string>();
  readonly #now: () => number;
  /** When a resync of a Service, a cluster or a partition was last requested. */
  readonly #requestedAt = new Map<string, number>();
  /** When a record of a Service was last dead-lettered, and which record it was. */
  readonly #deadLetters = new Map<string, { readonly at: number; readonly record: string }>();
  #delivered = 0;
  /** Numbers of the deliveries of Changes, by the id of the record. */
  readonly #deliveries = new Map<string, number>();
  /** Deliveries with which the last snapshot of a Service began and, once it has ended, the last complete one. */
  readonly #begun = new Map<string, number>();
  readonly #snapshots = new Map<string, number>();

  constructor(violations: Violations, conditions: Pick<Conditions, 'isReadable'>, now: () => number) {
    this.#now = now;
    this.#violations = violations;
    this.#conditions = conditions;
  }

  claimed(member: string, scope: string, { checkpoint, intact, entries }: ScopeState): void {
    if (!scope.startsWith('reconciler/')) return;
    const last = new Map<string, Stamp>();
    for (const { key, field, value } of entries) if (field === 'lastChange' && isStamp(value)) last.set(key, value);
    this.#claims.set(`${member} ${scope}`, {
      isNew: checkpoint === null,
      loss: checkpoint !== null && intact ? undefined : 'a claim that reports a possible loss',
      ...{ isResynced: false, incompleteSince: new Map(), complete: new Set(), completeUntil: new Map() },
      ...{ last, gaps: new Map() },
    });
  }

  /** Whether the member requests what a new partition begins with. */
  isFirst(member: string, { scope, reason }: ResyncRequest): boolean {
    if (reason !== 'no committed offset' || !('partition' in scope)) return false;
    return this.#claims.get(`${member} reconciler/${scope.partition}`)?.isNew === true;
  }

  requested(member: string, { scope }: ResyncRequest): void {
    if ('key' in scope) this.#requestedAt.set(formatServiceKey(scope.key), this.#now());
    if (!('partition' in scope)) return;
    this.#requestedAt.set(`partition ${scope.partition}`, this.#now());
    const claim = this.#claims.get(`${member} reconciler/${scope.partition}`);
    if (claim === undefined) return;
    if (scope.cluster === undefined) {
      claim.loss = undefined;
      claim.isResynced = true;
      claim.complete.clear();
      claim.completeUntil.clear();
      claim.gaps.clear();
      return;
    }
    claim.gaps.delete(scope.cluster);
  }

  delivered(member: string, topic: Topic, partition: number, records: readonly Delivery[]): void {
    const claim = this.#claims.get(`${member} reconciler/${partition}`);
    if (topic !== 'changes' || claim === undefined) return;
    for (const record of records) this.#count(record);
    if (!this.#conditions.isReadable) return;
    for (const { payload, offset, isEarly } of records) {
      const message = decode(payload);
      if (message.kind === 'change') this.#observe(claim, message, isEarly ? undefined : offset);
      if (message.kind === 'clusterRemoved') forget(claim, message);
    }
  }

  committed(member: string, { scope, entries, checkpoint }: Commit): void {
    const claim = this.#claims.get(`${member} ${scope}`);
    if (claim === undefined) return;
    const report = (what: string) =>
      this.#violations.report('losses are repaired', `${member} commits ${scope} ${what}`);
    if (claim.loss !== undefined) report(`after ${claim.loss}, and has requested no resync`);
    if (!this.#conditions.isReadable) return;
    for (const { key, field, value } of entries) {
      if (field === 'lastChange' && isStamp(value)) {
        const gap = claim.gaps.get(key);
        if (gap !== undefined && compareStamps(value, gap) >= 0)
          report(`past a gap before ${gap.epoch}/${gap.sequence}, and has requested no resync`);
      }
      if (!/^controller\/.*:plan$/.test(field) || value === undefined) continue;
      if (this.#isNew(scope, value) && !wasComplete(claim, key, value, checkpoint.offset))
        report(`with a plan for ${key} that was decided without a new snapshot`);
    }
  }

  deadLettered({ topic, record }: NewDeadLetter): void {
    if (topic === 'changes' && isServiceKey(record.key))
      this.#deadLetters.set(record.key, { at: this.#now(), record: record.id });
  }

  /** A Service of which a record was dead-lettered and no resync was requested; undefined if there is none. */
  unanswered(partitionOf: (key: string) => number): string | undefined {
    for (const [key, { at, record }] of this.#deadLetters) {
      // A snapshot that begins after the record answers the request before it is sent.
      if ((this.#snapshots.get(key) ?? 0) > (this.#deliveries.get(record) ?? 0)) continue;
      const requestedAt = [key, `partition ${partitionOf(key)}`].map((name) => this.#requestedAt.get(name) ?? 0);
      // A request that is pending already is not sent again at once.
      if (Math.max(...requestedAt) < at - pendingMs) return `no resync of ${key} was requested after a dead letter`;
    }
    return undefined;
  }

  #count({ key, id, headers, payload }: Delivery): void {
    const delivery = ++this.#delivered;
    this.#deliveries.set(id, delivery);
    if (headers['Sluice-Chunk'] !== undefined) return;
    const message = decode(payload);
    if (message.kind !== 'change' || message.snapshot === undefined) return;
    if (message.snapshot.first) this.#begun.set(key, delivery);
    if (message.snapshot.last) this.#snapshots.set(key, this.#begun.get(key) ?? 0);
  }

  #observe(claim: Claim, change: Change, offset: number | undefined): void {
    const { key, stamp, snapshot } = change;
    const revealed = { at: this.#now(), offset };
    if (hasGap(claim, change)) {
      if (!claim.gaps.has(key.cluster)) claim.gaps.set(key.cluster, stamp);
      if (!claim.incompleteSince.has(key.cluster)) claim.incompleteSince.set(key.cluster, revealed);
      for (const one of claim.complete) {
        if (parseServiceKey(one).cluster !== key.cluster) continue;
        claim.complete.delete(one);
        claim.completeUntil.set(one, revealed);
      }
    }
    if (isNewer(claim, change)) claim.last.set(key.cluster, stamp);
    if (snapshot?.last) claim.complete.add(formatServiceKey(key));
  }

  #isNew(scope: string, plan: unknown): boolean {
    const { plan: id } = plan as { plan: { epoch: number; number: number } };
    const name = `${scope} ${id.epoch}/${id.number}`;
    if (this.#plans.has(name)) return false;
    this.#plans.add(name);
    return true;
  }
}

/**
 * With a cluster, a reconciler discards what it may have missed of it, unless a later watcher has published. What is published next
 * starts from the beginning, and its loss shows.
 */
function forget({ last, gaps }: Claim, { cluster, epoch }: ClusterRemoved): void {
  if ((last.get(cluster)?.epoch ?? 0) <= epoch) gaps.delete(cluster);
}

/**
 * Whether nothing was missing when the plan was decided: a Change that reveals a gap can be delivered while the commit is on its
 * way to `upTo`.
 */
function wasComplete(
  { isResynced, incompleteSince, complete, completeUntil }: Claim,
  key: string,
  plan: unknown,
  upTo: number,
): boolean {
  const { decidedAt } = plan as { decidedAt: number };
  // Within one millisecond the offset tells the order: a plan is committed with all records that were applied before it.
  const isBefore = (revealed: Revealed | undefined) =>
    revealed !== undefined &&
    (decidedAt < revealed.at || (decidedAt === revealed.at && revealed.offset !== undefined && upTo < revealed.offset));
  if (complete.has(key) || isBefore(completeUntil.get(key))) return true;
  const since = incompleteSince.get(parseServiceKey(key).cluster);
  return !isResynced && (since === undefined || isBefore(since));
}

function isNewer({ last }: Claim, { key, stamp, previousSequence }: Change): boolean {
  const known = last.get(key.cluster);
  return previousSequence !== undefined && (known === undefined || compareStamps(stamp, known) > 0);
}

/** Whether Changes are missing between the last one of the cluster and this one. */
function hasGap(claim: Claim, change: Change): boolean {
  const { key, stamp, previousSequence = 0, previousEpoch = stamp.epoch } = change;
  const last = claim.last.get(key.cluster);
  if (last === undefined || previousSequence === 0 || !isNewer(claim, change)) return false;
  return compareStamps({ epoch: previousEpoch, sequence: previousSequence }, last) > 0;
}
