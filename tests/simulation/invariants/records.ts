import type { BusRecord, Topic } from '@sluice/bus';
import {
  type Change,
  compareStamps,
  formatServiceKey,
  isStamp,
  type Message,
  type ResyncRequest,
} from '@sluice/messages';
import type { SimulatedStore } from '../doubles/simulated-store.ts';
import type { Violations } from '../violations.ts';
import { decode, encoded } from './decode.ts';
import { joined } from './joined.ts';
import type { LossInvariants } from './losses.ts';
import type { Observations } from './observations.ts';
import type { OutcomeInvariants } from './outcomes.ts';
import type { PlanInvariants } from './plans.ts';

/** Longest time between a decision to send and the arrival, in milliseconds. */
const inFlightMs = 6_000;

export interface RecordInvariantsOptions {
  readonly observations: Observations;
  readonly violations: Violations;
  readonly plans: PlanInvariants;
  readonly outcomes: OutcomeInvariants;
  readonly store: () => SimulatedStore;
  readonly losses: LossInvariants;
}

interface Resync {
  /** Who requests it, and why. */
  readonly what: string;
  /** Whether another member holds the lease of the partition. */
  readonly isOfFormerOwner: boolean;
}

/** Every record as it leaves a process: its partition, its number, and that an id never stands for two contents. */
export class RecordInvariants {
  readonly #options: RecordInvariantsOptions;
  readonly #payloads = new Map<string, { readonly payload: Uint8Array; readonly member: string }>();
  /** Stamp of the last Change by member, cluster and partition. */
  readonly #lastOfPartition = new Map<string, { readonly epoch: number; readonly sequence: number }>();
  /** Resync requests with their reasons, except those with which a partition begins. */
  readonly resyncs: Resync[] = [];

  constructor(options: RecordInvariantsOptions) {
    this.#options = options;
  }

  sent(member: string, topic: Topic, partition: number, records: readonly BusRecord[]): void {
    for (const record of joined(records)) {
      const isRepeated = this.#isRepeated(member, topic, partition, record);
      this.#check(member, topic, partition, record, isRepeated);
    }
  }

  #isRepeated(member: string, topic: Topic, partition: number, { id, payload }: BusRecord): boolean {
    const { violations } = this.#options;
    const name = `${topic}/${partition} ${id}`;
    const known = this.#payloads.get(name);
    this.#payloads.set(name, { payload, member });
    if (known === undefined || known.payload === payload) return known !== undefined;
    // A request may be repeated for another reason.
    if (topic === 'changes' && Buffer.compare(known.payload, payload) !== 0) {
      const { kind } = decode(payload);
      // A writer that processes a plan again may decide another Outcome; the bus keeps the first one.
      if (kind === 'change' || (kind === 'outcome' && known.member !== member))
        violations.report('one content per id', `${member} sends ${id} with another content`);
    }
    return true;
  }

  #check(member: string, topic: Topic, partition: number, record: BusRecord, isRepeated: boolean): void {
    const { observations, violations, plans, outcomes } = this.#options;
    if (record.message !== undefined) encoded(record.payload, record.message as Message);
    const message = decode(record.payload);
    if (message.kind === 'resync') {
      if (!this.#options.losses.isFirst(member, message)) this.#addResync(member, message);
      this.#options.losses.requested(member, message);
      return;
    }
    if (message.kind === 'clusterRemoved' || message.kind === 'release') return;
    if (record.key !== formatServiceKey(message.key))
      violations.report(
        'one partition per Service',
        `${member} sends ${formatServiceKey(message.key)} under ${record.key}`,
      );
    if (observations.partitionOf(record.key) !== partition)
      violations.report('one partition per Service', `${member} sends ${record.key} to ${topic}/${partition}`);
    switch (message.kind) {
      case 'change':
        if (!isRepeated) this.#checkChange(member, partition, message);
        return;
      case 'mutations':
        return plans.sent(member, partition, message);
      case 'outcome':
        return outcomes.check(member, partition, message);
    }
  }

  #addResync(member: string, { scope, reason }: ResyncRequest): void {
    const lease =
      'partition' in scope ? this.#options.observations.lease('reconciler', String(scope.partition)) : undefined;
    this.resyncs.push({
      what: `${member}: ${reason}`,
      isOfFormerOwner: lease !== undefined && lease.holder !== member,
    });
  }

  #checkChange(member: string, partition: number, change: Change): void {
    const { observations, violations, store } = this.#options;
    const { stamp, previousSequence, previousEpoch, key } = change;
    const of = `${member} ${key.cluster}`;
    const what = `${member} sends Change ${stamp.epoch}/${stamp.sequence}`;
    const ofPartition = `${of} ${stamp.epoch} ${partition}`;
    const before = this.#lastOfPartition.get(ofPartition);
    if (before !== undefined && stamp.sequence <= before.sequence)
      violations.report('sequences increase', `${what} after ${before.epoch}/${before.sequence}`);
    const { isIntact } = observations.conditions;
    if (isIntact && before !== undefined && previousSequence !== before.sequence)
      violations.report(
        'sequences increase',
        `${what}, which names ${previousEpoch}/${previousSequence} before it, not ${before.sequence}`,
      );
    // A watcher that does not know the Change before its first one names none.
    if (isIntact && before === undefined && observations.conditions.hasEpochs)
      this.#checkFirst(what, partition, change);
    this.#lastOfPartition.set(ofPartition, stamp);
    const lease = observations.lease('watcher', key.cluster);
    if (lease === undefined || lease.holder !== member) return;
    // A token is the time of its acquisition; what was on its way then may still arrive.
    const isOutdated = stamp.epoch < lease.fencingToken && observations.now() > lease.fencingToken + inFlightMs;
    if (isIntact && (isOutdated || stamp.epoch > lease.fencingToken))
      violations.report('current fencing token', `${what} while its token is ${lease.fencingToken}`);
    const digest = store()
      .entries(`watcher/${key.cluster}`)
      .get(`${formatServiceKey(key)}\ndigest`);
    if (observations.conditions.isIntact && digest !== undefined && digest !== '""')
      violations.report('digests follow Changes', `${what} of ${key.service} while a digest of it is stored`);
  }

  /** The first Change of a watcher in a partition names one that is not older than the stored stamp, so that no gap is hidden. */
  #checkFirst(what: string, partition: number, { key, stamp, previousSequence, previousEpoch }: Change): void {
    const json = this.#options.store().entries(`watcher/${key.cluster}`).get(`${key.cluster}\nlastStamp/${partition}`);
    const stored: unknown = json === undefined ? undefined : JSON.parse(json);
    if (!isStamp(stored) || previousSequence === undefined || compareStamps(stored, stamp) >= 0) return;
    const previous = { epoch: previousEpoch ?? stamp.epoch, sequence: previousSequence };
    // 0 stands for no Change before it.
    if (previousSequence > 0 && compareStamps(previous, stored) >= 0) return;
    const names = `${previous.epoch}/${previous.sequence}`;
    this.#options.violations.report(
      'stamps continue',
      `${what}, which names ${names} before it, while ${stored.epoch}/${stored.sequence} is stored`,
    );
  }
}
