import type { Delivery } from '@sluice/bus';
import type { VirtualClock } from '@sluice/platform';
import { describeRecord } from '../describe.ts';
import type { BusObserver } from '../doubles/faulty-bus.ts';
import type { SimulatedStore, StoreObserver } from '../doubles/simulated-store.ts';
import { leaseTimes } from '../fleet.ts';
import { type FaultKind, hasFault, hasLayersOff, isLossy, repaired, type Scenario } from '../scenario.ts';
import type { SimulatedCluster } from '../simulated-cluster.ts';
import type { Violations } from '../violations.ts';
import { CommitInvariants } from './commits.ts';
import { CountedWrites } from './counted-writes.ts';
import { decode } from './decode.ts';
import { ForeignWrites } from './foreign-writes.ts';
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
  readonly clock: VirtualClock;
  readonly clusters: readonly SimulatedCluster[];
  readonly violations: Violations;
  readonly store: () => SimulatedStore;
  /** Adds an entry to the timeline. */
  readonly note: (actor: string, what: () => string) => void;
}

/** Losses after which a plan may be applied after a newer one. */
const forgetful: readonly FaultKind[] = [
  ...(['store wiped', 'store rolled back', 'scope rolled back', 'stored value unreadable'] as const),
  'store loss at an operation',
  ...(['leases lost', 'store clock set ahead', 'etcd restored'] as const),
];

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

  constructor({ scenario, clock, clusters, violations, store, note }: InvariantsOptions) {
    const { recordBytes, partitions } = scenario;
    const lossy = isLossy(scenario);
    const isRestored = hasFault(scenario, 'etcd restored');
    const intact = {
      isLossy: lossy,
      isIntact: !lossy,
      isChunked: recordBytes !== null,
      isOrdered: !hasFault(scenario, ...forgetful),
      hasPreconditions: !scenario.disabled.includes('preconditions'),
      hasExpiry: !scenario.disabled.includes('expiry'),
      isRepaired: hasLayersOff(scenario, ...repaired),
      hasEpochs: !scenario.disabled.includes('epochs'),
      partitions,
    };
    const observations = new Observations(intact, () => clock.now(), violations);
    const plans = new PlanInvariants(observations, violations);
    const byIdentity = new Map(clusters.map((cluster) => [cluster.identity, cluster]));
    const unreported = new UnreportedWrites((key) => observations.partitionOf(key));
    const outcomes = new OutcomeInvariants({ observations, violations, plans, unreported, clusters: byIdentity });
    const commits = new CommitInvariants(observations, violations, plans, store);
    const inherited = new InheritedPlans(violations, intact);
    const isReadable =
      recordBytes === null &&
      !isRestored &&
      !hasFault(scenario, 'message of another version', 'stored value unreadable');
    const losses = new LossInvariants(violations, isReadable, () => clock.now());
    // A restored cluster has older versions.
    const versions = isRestored ? undefined : new StoredVersions(violations, scenario.disabled);
    const steady = new SteadyServices(violations);
    // Of so few objects, the guard against mass removals lets a server delete all that lists none.
    if (!isRestored && !hasFault(scenario, 'empty lists')) for (const cluster of clusters) steady.watch(cluster);
    steady.mayRepeat = lossy;
    const records = new RecordInvariants({ observations, violations, plans, outcomes, store, losses });
    this.observations = observations;
    this.records = records;
    this.losses = losses;
    this.owners = new WorkingOwners(observations, violations, !hasFault(scenario, 'store clock set back'));
    this.histories = new Histories(observations.now, (...args) => this.owners.answered(...args));
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
    const late = new LateMessages(() => clock.now());
    this.lossless = new LosslessInvariants(scenario, violations, late);
    for (const cluster of clusters) this.foreignWrites.watch(cluster);
    this.staleness = new Staleness(violations, scenario.maxEndpointsPerSlice, this.foreignWrites);
    this.storeObserver = {
      claimed: (member, scope, token) => {
        note(member, () => `claims ${scope} under ${token}`);
        commits.claimed(member, scope);
        unreported.claimed(member, scope);
      },
      restored: (...args) => {
        inherited.claimed(...args);
        losses.claimed(...args);
        versions?.claimed(args[1], args[2]);
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
        versions?.committed(member, commit);
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
