import { type Random, randomInteger, seededRandom } from '@sluice/platform';
import { type SuiteEventKind, type SuiteName, suiteKinds, suiteOf } from './suites/suite-kinds.ts';

/** Layers that repair what another one missed. A run without one of them judges the layers before it. */
export const layers = [
  ...(['digests', 'resyncs', 'redelivery', 'preconditions'] as const),
  // What reconcilers remember of objects: deleted ones, and their versions.
  ...(['tombstones', 'versions'] as const),
  // What a watcher begins with: snapshots, and the last Change of the one before.
  ...(['snapshots', 'epochs'] as const),
  // What keeps former owners out: their own clock, and the store.
  ...(['expiry', 'fencing'] as const),
] as const;
export type Layer = (typeof layers)[number];

/** Faults after which no message and no stored state is lost. */
export const losslessFaults = [
  'kill',
  'stop',
  'start',
  'freeze',
  'pause',
  'clock step',
  'slow link',
  'requests wait',
  'watch lag',
  'request errors',
  'late requests',
  'wrong answers',
  'malformed object',
  'watch errors',
  'slow API server',
  'failing append',
  'append reported as failed',
  'slow append',
  'connections broken',
  'cut off from the store',
  'cut off from the bus',
  'cut off from an API server',
  'duplicate append',
  'failing store',
  'commit reported as failed',
  'namespace deletion',
  'store clock set back',
  'kill at an operation',
  'freeze at an operation',
  'commit after the next claim',
  'unanswered creates',
  'change during a list',
] as const;

/** Faults that lose messages or stored state. */
export const lossyFaults = [
  'lost append',
  'store restarted',
  'store wiped',
  'store rolled back',
  'scope rolled back',
  'leases lost',
  'store clock set ahead',
  'log purged',
  'log recreated',
  'log truncated',
  'log refilled',
  'records replaced',
  'log loss at an operation',
  'store loss at an operation',
  'plans pile up',
  'byte limit reached',
  'stored value unreadable',
  'stored value changed',
  'lease changed',
  'empty lists',
  'message of another version',
  'etcd restored',
] as const;

/** Most restores leave no proof, and few values concern a whole scope, so there are more of them. */
const frequent: readonly FaultKind[] = [
  ...(['etcd restored', 'etcd restored'] as const),
  ...(['stored value unreadable', 'stored value unreadable'] as const),
];

/** Losses that show only in digests, because nothing that follows reveals them. */
const silentLosses: readonly string[] = ['lost append', 'plans pile up', 'message of another version', 'etcd restored'];

export type LossyFault = (typeof lossyFaults)[number];
export type FaultKind = (typeof losslessFaults)[number] | LossyFault;

/** Longest time between faults that strike together, in milliseconds: as long as a take-over. */
const closeTogetherMs = 3_000;

/** Something that happens to the fleet. What exactly follows from its own seed, so events can be left out independently. */
export interface ScenarioEvent {
  readonly atMs: number;
  readonly kind: 'user' | 'steady' | FaultKind | SuiteEventKind;
  readonly seed: number;
}

/** Processes of one role each, workers, or both in one fleet. */
export type ProcessKind = 'roles' | 'workers' | 'mixed';

/** A model of a store, or the production adapters and scripts on a model of Redis. */
export type StoreKind = 'model' | 'redis';

/** A model of a bus, or the production adapter on a model of NATS, with streams of one replica or three. */
export type BusKind = 'model' | 'jetstream' | 'replicated jetstream';

/** What passes between clients and API servers: objects, or the bytes that the production client for HTTP sends and reads. */
export type WireKind = 'objects' | 'json' | 'protobuf';

const wireKinds: readonly WireKind[] = ['objects', 'json', 'objects', 'protobuf'];

/** One run, as data. */
export interface Scenario {
  readonly seed: number;
  /** A suite runs the events, in a world of its own, instead of a fleet. */
  readonly suite?: SuiteName;
  readonly clusters: number;
  /** Namespaces of users in each cluster, with objects of the same names. */
  readonly namespaces: number;
  readonly partitions: number;
  readonly maxEndpointsPerSlice: number;
  readonly batchPeriodMs: number;
  /** Payloads that the bus accepts; larger messages are sent in chunks. Null: no limit. */
  readonly recordBytes: number | null;
  /** Whether the bus drops records with known ids, as JetStream does. */
  readonly dropsRepeated: boolean;
  /** Whether the bus deletes records once they are released. */
  readonly dropsReleased: boolean;
  /** Records that a reader gets at once, at most. Null: no limit. */
  readonly recordsPerRead: number | null;
  /** Offset at which the logs begin, as after a long time. */
  readonly firstOffset: number;
  readonly processes: ProcessKind;
  readonly store: StoreKind;
  readonly bus: BusKind;
  readonly wire: WireKind;
  readonly disabled: readonly Layer[];
  /** Ascending by time. */
  readonly events: readonly ScenarioEvent[];
  /** Two Services, three Pods and one Node instead of many, and one process per role. */
  readonly small?: boolean;
  /** End of the events, in milliseconds. */
  readonly activeMs: number;
}

export interface ScenarioOptions {
  /** Many faults at high rates in every seed. Otherwise every fourth seed has them. */
  readonly swarm: boolean;
  /** Layers that every seed does without. Default: some seeds do without one. */
  readonly disabled?: readonly Layer[];
  /** The suite that every seed runs. Default: some seeds run one, the others a fleet. */
  readonly suite?: SuiteName | undefined;
}

const processKinds: readonly ProcessKind[] = ['roles', 'workers', 'roles', 'mixed', 'roles'];

/** The scenario of a seed. */
export function scenarioOf(seed: number, options: ScenarioOptions): Scenario {
  const suite = options.suite ?? suiteOf(seed);
  return suite === undefined ? fleetScenario(seed, options) : suiteScenario(seed, suite);
}

function suiteScenario(seed: number, suite: SuiteName): Scenario {
  const random = seededRandom(seed);
  const activeMs = randomInteger(random, 60_000, suite === 'clusters' ? 120_000 : 240_000);
  const kinds: readonly SuiteEventKind[] = suiteKinds[suite];
  // Every other seed has few kinds of faults, so that others do not hide what they do.
  const several = random.next() < 0.5 ? kinds.length : randomInteger(random, 1, 4);
  const chosen = Array.from({ length: several }, () => kinds[randomInteger(random, 0, kinds.length - 1)]);
  const most = suite === 'clusters' ? 12 : 40;
  const events = Array.from({ length: randomInteger(random, 5, most) }, (): ScenarioEvent => {
    const kind = chosen[randomInteger(random, 0, chosen.length - 1)] ?? suiteKinds[suite][0];
    return { atMs: randomInteger(random, 0, activeMs), kind, seed: randomInteger(random, 0, 2 ** 31 - 1) };
  });
  return {
    ...{ seed, suite, activeMs, events: events.sort((a, b) => a.atMs - b.atMs) },
    ...{ clusters: 1, namespaces: 1, partitions: 1, maxEndpointsPerSlice: 100, batchPeriodMs: 0, recordBytes: null },
    ...{
      dropsRepeated: false,
      dropsReleased: false,
      firstOffset: 0,
      recordsPerRead: null,
      processes: 'roles',
      store: 'model',
      bus: 'model',
      wire: 'objects',
    },
    disabled: [],
  };
}

function fleetScenario(seed: number, { swarm: isSwarm, disabled }: ScenarioOptions): Scenario {
  const random = seededRandom(seed);
  const swarm = isSwarm || seed % 4 === 0;
  const chance = (probability: number) => random.next() < probability;
  const kinds = chosenFaults(random, swarm);
  const activeMs = randomInteger(random, 4_000, swarm ? 25_000 : 14_000);
  const events: ScenarioEvent[] = [];
  const add = (kind: ScenarioEvent['kind'], atMs: number) => {
    events.push({ atMs: Math.round(atMs), kind, seed: Math.floor(random.next() * 2 ** 31) });
  };
  // Bursts of changes, so that some arrive while others are in flight.
  for (let at = 0; at < activeMs; at += chance(0.4) ? randomInteger(random, 0, 40) : randomInteger(random, 50, 1_500)) {
    add(chance(0.75) ? 'user' : 'steady', at);
  }
  const rate = kinds.length === 0 ? 0 : randomInteger(random, 2, swarm ? 24 : 8);
  // Half of the seeds have their faults close together, so that one strikes while another is being repaired.
  const moments = Array.from({ length: chance(0.5) ? randomInteger(random, 1, 3) : 0 }, () => random.next() * activeMs);
  for (let n = 0; n < rate; n++) {
    const kind = kinds[randomInteger(random, 0, kinds.length - 1)];
    const moment = moments[n % moments.length];
    const at = moment === undefined ? random.next() * activeMs : moment + randomInteger(random, 0, closeTogetherMs);
    if (kind !== undefined) add(kind, Math.min(at, activeMs));
  }
  const isSilent = kinds.some((kind) => silentLosses.includes(kind));
  const without = disabled ?? disabledLayers(random, kinds.some(isLossyFault), isSilent);
  const isPossible = (kind: ScenarioEvent['kind']) =>
    !without.includes('fencing') || !fencedFaults.some((one) => one === kind);
  return {
    seed,
    clusters: chance(0.25) ? randomInteger(random, 2, 3) : 1,
    namespaces: chance(0.4) ? 2 : 1,
    partitions: randomInteger(random, 1, 3),
    maxEndpointsPerSlice: chance(0.5) ? randomInteger(random, 1, 3) : 100,
    batchPeriodMs: chance(0.1) ? 300 : 0,
    recordBytes: chance(0.18) ? 600 : null,
    dropsRepeated: chance(0.5),
    dropsReleased: chance(0.5),
    processes: processKinds[seed % processKinds.length] ?? 'roles',
    disabled: without,
    events: events.filter(({ kind }) => isPossible(kind)).sort((a, b) => a.atMs - b.atMs),
    activeMs,
    wire: wireKinds[Math.floor(seed / 3) % wireKinds.length] ?? 'objects',
    store: chance(0.08) ? 'redis' : 'model',
    bus: chance(0.25) ? (chance(0.7) ? 'jetstream' : 'replicated jetstream') : 'model',
    recordsPerRead: chance(0.3) ? randomInteger(random, 1, 3) : null,
    firstOffset: chance(0.7) ? randomInteger(random, 1, 2 ** 40) : 0,
  };
}

export const isLossyFault = (kind: string): kind is LossyFault => (lossyFaults as readonly string[]).includes(kind);

/** Whether the scenario may lose messages or stored state. */
export const isLossy = ({ events }: Scenario): boolean => events.some(({ kind }) => isLossyFault(kind));

/** Whether the event is a fault of a fleet. */
export const isFault = (kind: string): kind is FaultKind =>
  (losslessFaults as readonly string[]).includes(kind) || isLossyFault(kind);

export const hasFault = ({ events }: Scenario, ...kinds: readonly FaultKind[]): boolean =>
  events.some(({ kind }) => kinds.some((one) => one === kind));

export const hasLayersOff = ({ disabled }: Scenario, ...layers: readonly Layer[]): boolean =>
  disabled.some((layer) => layers.includes(layer));

function chosenFaults(random: Random, swarm: boolean): readonly FaultKind[] {
  const chance = random.next();
  if (!swarm && chance < 0.15) return [];
  const kinds: readonly FaultKind[] =
    chance < 0.65 ? losslessFaults : [...losslessFaults, ...lossyFaults, ...lossyFaults, ...frequent];
  const count = swarm ? randomInteger(random, 3, 10) : randomInteger(random, 1, 4);
  const chosen = new Set<FaultKind>();
  while (chosen.size < count) {
    const kind = kinds[randomInteger(random, 0, kinds.length - 1)];
    if (kind !== undefined) chosen.add(kind);
  }
  return [...chosen];
}

/**
 * After these, a former owner may commit when the next one has claimed the scope, and only the store keeps it out. Without fencing
 * in the store, a fleet has none of them.
 */
const fencedFaults: readonly FaultKind[] = [
  ...(['freeze', 'pause', 'clock step', 'slow link', 'cut off from the store', 'failing store'] as const),
  ...(['commit reported as failed', 'store clock set back', 'freeze at an operation'] as const),
  ...(['commit after the next claim', 'unanswered creates', 'requests wait'] as const),
];

/** Layers without which digests find what is wrong. */
export const repaired: readonly Layer[] = ['tombstones', 'versions', 'snapshots'];

/** Layers that any fleet can do without. */
const repairable: readonly Layer[] = [...repaired, 'epochs', 'expiry'];

/** Digests stay on where only they find a loss. Without losses the fleet must do without several layers. */
function disabledLayers(random: Random, isLossy: boolean, isSilent: boolean): readonly Layer[] {
  const chance = random.next();
  if (isSilent) return [];
  const one = repairable[Math.floor(random.next() * repairable.length)] ?? 'epochs';
  if (isLossy) return chance < 0.5 ? ['digests'] : chance < 0.75 ? [one] : [];
  if (chance < 0.25) return ['digests'];
  if (chance < 0.33) return ['digests', 'resyncs'];
  if (chance < 0.41) return ['redelivery'];
  if (chance < 0.46) return ['preconditions'];
  if (chance < 0.72) return [one];
  if (chance < 0.78) return ['fencing'];
  return [];
}
