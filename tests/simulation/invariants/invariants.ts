import type { Delivery } from '@sluice/bus';
import type { VirtualClock } from '@sluice/platform';
import { describeRecord } from '../describe.ts';
import type { BusObserver } from '../doubles/faulty-bus.ts';
import type { SimulatedStore, StoreObserver } from '../doubles/simulated-store.ts';
import { leaseTimes } from '../fleet.ts';
import type { InjectedFaults } from '../injected-faults.ts';
import type { Scenario } from '../scenario.ts';
import type { SimulatedCluster } from '../simulated-cluster.ts';
import type { Violations } from '../violations.ts';
import { CommitInvariants } from './commits.ts';
import { Conditions } from './conditions.ts';
import { CountedWrites } from './counted-writes.ts';
import { decode } from './decode.ts';
import { ForeignWrites } from './foreign-writes.ts';
import { type Disturbance, HeldBack } from './held-back.ts';
import { Histories } from './histories.ts';
import { InheritedPlans } from './inherited-plans.ts';
import { LateMessages } from './late-messages.ts';
import { LossInvariants } from './losses.ts';
import { LosslessInvariants } from './lossless.ts';
import { Observations } from './observations.ts';
import { OutcomeInvariants } from './outcomes.ts';
import { OwnLeases } from './own-leases.ts';
import { PlanInvariants } from './plans.ts';
import { RecordInvariants } from './records.ts';
import { ReplacedValues } from './replaced-values.ts';
import { RequestInvariants } from './requests.ts';
import { Staleness } from './staleness.ts';
import { SteadyServices } from './steady.ts';
import { StoredVersions } from './stored-versions.ts';
import { UnreportedWrites } from './unreported-writes.ts';
import { WorkingOwners } from './working-owners.ts';

export interface InvariantsOptions {
  readonly scenario: Scenario;
  readonly faults: InjectedFaults;
  readonly clock: VirtualClock;
  readonly clusters: readonly SimulatedCluster[];
  readonly violations: Violations;
  readonly store: () => SimulatedStore;
  /** Of the cluster of this name. */
  readonly disturbance: (cluster: string) => Disturbance;
  /** Adds an entry to the timeline. */
  readonly note: (actor: string, what: () => string) => void;
}

/** The invariants of a run, and the observers through which they see the use of bus and store. */
export class Invariants {
  readonly observations: Observations;
  readonly records: RecordInvariants;
  readonly requests: RequestInvariants;
  readonly losses: LossInvariants;
  readonly histories: Histories;
  readonly ownLeases: OwnLeases;
  readonly owners: WorkingOwners;
  readonly lossless: LosslessInvariants;
  readonly staleness: Staleness;
  readonly foreignWrites = new ForeignWrites();
  readonly countedWrites = new CountedWrites();
  readonly replacedValues = new ReplacedValues();
  readonly storeObserver: StoreObserver;
  readonly busObserver: BusObserver;
  readonly deliveredLocally: (member: string, plans: readonly Delivery[]) => void;

  constructor({ scenario, faults, clock, clusters, violations, store, note, disturbance }: InvariantsOptions) {
    const conditions = new Conditions(scenario, faults);
    const observations = new Observations(conditions, () => clock.now(), violations);
    const plans = new PlanInvariants(observations, violations);
    const byIdentity = new Map(clusters.map((cluster) => [cluster.identity, cluster]));
    const unreported = new UnreportedWrites((key) => observations.partitionOf(key));
    const outcomes = new OutcomeInvariants({ observations, violations, plans, unreported, clusters: byIdentity });
    const commits = new CommitInvariants(observations, violations, plans, store);
    const inherited = new InheritedPlans(violations, conditions);
    const losses = new LossInvariants(violations, conditions, () => clock.now());
    const versions = new StoredVersions(violations, scenario.disabled, conditions);
    const steady = new SteadyServices(violations, conditions);
    for (const cluster of clusters) steady.watch(cluster);
    const records = new RecordInvariants({ observations, violations, plans, outcomes, store, losses });
    this.observations = observations;
    this.records = records;
    this.losses = losses;
    this.owners = new WorkingOwners(observations, violations, () => !faults.has('store clock set back'));
    this.histories = new Histories(
      observations.now,
      () => conditions.isIntact,
      (...args) => this.owners.answered(...args),
    );
    const ownLeases = new OwnLeases(observations.now, leaseTimes.ttlMs);
    this.ownLeases = ownLeases;
    this.requests = new RequestInvariants({
      ...{ observations, violations, plans, commits, inherited, unreported, ownLeases },
    });
    for (const cluster of clusters) {
      cluster.server.onCommit((resource, { type, object }) => {
        if (resource === 'endpointslices' && type === 'ADDED') this.requests.created(cluster, object);
      });
    }
    const heldBack = new HeldBack(observations.now, disturbance);
    for (const cluster of clusters) heldBack.watch(cluster);
    const late = new LateMessages(() => clock.now());
    this.lossless = new LosslessInvariants(scenario, faults, violations, late, heldBack);
    for (const cluster of clusters) this.foreignWrites.watch(cluster);
    this.staleness = new Staleness(violations, scenario.maxEndpointsPerSlice, this.foreignWrites, faults);
    this.storeObserver = {
      claimed: (member, scope, token) => {
        note(member, () => `claims ${scope} under ${token}`);
        commits.claimed(member, scope);
        unreported.claimed(member, scope);
      },
      restored: (...args) => {
        inherited.claimed(...args);
        losses.claimed(...args);
        versions.claimed(args[1], args[2]);
        this.replacedValues.claimed(args[1]);
      },
      committed: (member, commit, previous) => {
        note(
          member,
          () =>
            `commits ${commit.scope} up to ${commit.checkpoint.offset}: ${commit.entries.map(({ key, field }) => `${key.slice(-20)} ${field}`).join(', ')}`,
        );
        commits.committed(member, commit, previous);
        inherited.committed(member, commit, previous);
        losses.committed(member, commit);
        versions.committed(member, commit);
        this.replacedValues.committed(commit);
      },
      group: (group, member, state) => observations.group(group, member, state),
      replaced: (scope, entry, value) => {
        note('fault', () => `replaces ${entry.replace('\n', ' ')} in ${scope}`);
        this.replacedValues.replaced(scope, entry, value);
      },
    };
    this.deliveredLocally = (member, deliveries) => {
      const early = deliveries.filter(({ isEarly }) => isEarly);
      const described = deliveries.map((each) => describeRecord(each.isEarly ? 'changes' : 'mutations')(each));
      note(member, () => `gets within the process: ${described.join(', ')}`);
      for (const record of early) {
        const partition = observations.partitionOf(record.key);
        plans.delivered(partition, record);
        const message = decode(record.payload);
        if (message.kind === 'outcome') unreported.answered(member, message);
        losses.delivered(member, 'changes', partition, [record]);
      }
      for (const plan of deliveries.filter(({ isEarly }) => !isEarly))
        commits.delivered(member, 'mutations', observations.partitionOf(plan.key), [plan]);
    };
    this.busObserver = {
      sent: (member, topic, partition, sent) => {
        note(member, () => `sends to ${topic}/${partition}: ${sent.map(describeRecord(topic)).join(', ')}`);
        records.sent(member, topic, partition, sent);
        commits.sent(member, topic, sent);
        if (topic === 'changes') late.sent(sent);
      },
      appended: (member, topic, partition, stored) => {
        commits.appended(member, topic, partition, stored);
        if (topic === 'changes') late.appended(stored);
      },
      lost: (topic, partition, lost) =>
        note('fault', () => `lose ${topic}/${partition}: ${lost.map(({ id }) => id).join(', ')}`),
      delivered: (...args) => {
        commits.stored(args[3]);
        commits.delivered(...args);
        inherited.delivered(...args);
        losses.delivered(...args);
      },
      ended: (...args) => inherited.ended(...args),
      released: (...args) => commits.released(...args),
    };
  }
}
