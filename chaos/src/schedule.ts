import { type Random, randomInteger } from '@sluice/platform';

/** Faults of any process: Sluice's roles and the servers. */
export type Disturbance = 'kill' | 'freeze' | 'restart';
/** Faults around a role: one direction of its connections to a server, and its system clock. */
export type Isolation = 'block requests' | 'block responses' | 'step clock';
/** SIGTERM, and a start as the other of two versions. */
export type Upgrade = 'change version';
/** Data losses of the servers beyond those of a crash. */
export type Loss = 'wipe' | 'restore snapshot' | 'purge' | 'lose last records' | 'outlast duplicate window';
/** Faults of replicated servers, and of disks. */
export type ServerFault = 'change leaders' | 'fail over' | 'fill disk';

export const roles = ['watcher', 'reconciler', 'writer', 'worker'] as const;
export type Role = (typeof roles)[number];
export type Server = 'bus' | 'store';

export type Kind =
  | `${Disturbance} ${Role | Server}`
  | `${Isolation | Upgrade} ${Role}`
  | `${Loss | ServerFault} ${Server}`;

/** What decides which faults are possible. */
export interface Topology {
  readonly bus: 'nats' | 'kafka';
  readonly natsNodes: 1 | 3;
  readonly sentinel: boolean;
  /** Whether disks can be filled. */
  readonly disks: boolean;
  /** Whether processes of two versions run. */
  readonly versions: 1 | 2;
  /** The roles that the fleet has. */
  readonly roles: readonly Role[];
}

/** One fault to inject. */
export interface Action {
  /** Milliseconds since the start of the schedule. */
  readonly at: number;
  readonly kind: Kind;
  /** Name of the process, or of all servers of one kind: `reconciler-2`, `bus-1`, `store`. */
  readonly target: string;
  /** Random number in [0, 1) that seeds the details of the action. */
  readonly random: number;
}

/** Number of processes per role and kind of server. */
export type Replicas = Readonly<Record<Role | Server, number>>;

export interface ScheduleOptions {
  readonly actions: number;
  readonly replicas: Replicas;
  readonly random: Random;
  /** Kinds of actions, drawn in random order without replacement, then all over again. */
  readonly kinds: readonly Kind[];
  /** Minimum and maximum time between two actions, in milliseconds. */
  readonly pauseMs: readonly [number, number];
}

const disturbances: readonly Disturbance[] = ['kill', 'freeze', 'restart'];
const isolations: readonly Isolation[] = ['block requests', 'block responses', 'step clock'];
const upgrades: readonly Upgrade[] = ['change version'];
const losses: readonly Kind[] = ['wipe store', 'restore snapshot store', 'purge bus', 'lose last records bus'];
/** Faults that affect one server; all others concern all servers of a kind. */
const ofOneServer: readonly string[] = [...disturbances, 'fill disk'] satisfies readonly (Disturbance | ServerFault)[];

/** Kinds of actions with these servers. Disturbances and changes of version of roles occur twice as often. */
export function chaosActions({ bus, natsNodes, sentinel, disks, versions, roles }: Topology): readonly Kind[] {
  const each = <F extends string, T extends string>(faults: readonly F[], targets: readonly T[]) =>
    targets.flatMap((target) => faults.map((what): `${F} ${T}` => `${what} ${target}`));
  const servers = ['bus', 'store'] as const;
  return [
    ...each(disturbances, roles),
    ...each(disturbances, roles),
    ...each(isolations, roles),
    ...each(disturbances, servers),
    ...losses,
    // Kafka has no duplicate window.
    ...(bus === 'nats' ? (['outlast duplicate window bus'] as const) : []),
    ...(natsNodes > 1 ? (['change leaders bus'] as const) : []),
    ...(sentinel ? (['fail over store'] as const) : []),
    ...(versions === 1 ? [] : [...each(upgrades, roles), ...each(upgrades, roles)]),
    ...(disks ? each(['fill disk'] as const, servers) : []),
  ];
}

/** Freezes of lease owners for longer than their leases. */
export const freezeActions = ({ roles }: Topology): readonly Kind[] => roles.map((role) => `freeze ${role}` as const);

/** The processes of a fleet by role. */
export const fleets = {
  roles: { watcher: 2, reconciler: 3, writer: 2, worker: 0 },
  workers: { watcher: 0, reconciler: 0, writer: 0, worker: 3 },
  mixed: { watcher: 1, reconciler: 1, writer: 1, worker: 2 },
} satisfies Readonly<Record<string, Readonly<Record<Role, number>>>>;

export type FleetKind = keyof typeof fleets;

/** Plans actions and their times. The same random numbers give the same schedule. */
export function schedule({ actions, replicas, random, kinds, pauseMs }: ScheduleOptions): readonly Action[] {
  const planned: Action[] = [];
  let left: Kind[] = [];
  let at = 0;
  while (planned.length < actions) {
    if (left.length === 0) left = shuffled(kinds, random);
    const kind = left.pop();
    if (kind === undefined) throw new RangeError('a schedule needs at least one kind of action');
    at += randomInteger(random, ...pauseMs);
    planned.push({ at, kind, target: targetOf(kind, replicas, random), random: random.next() });
  }
  return planned;
}

function targetOf(kind: Kind, replicas: Replicas, random: Random): string {
  const space = kind.lastIndexOf(' ');
  const [what, whom] = [kind.slice(0, space), kind.slice(space + 1) as Role | Server];
  const isServer = whom === 'bus' || whom === 'store';
  if (isServer && (replicas[whom] === 1 || !ofOneServer.includes(what))) return whom;
  return `${whom}-${randomInteger(random, 1, replicas[whom])}`;
}

function shuffled(kinds: readonly Kind[], random: Random): Kind[] {
  const all = [...kinds];
  for (let i = all.length - 1; i > 0; i--) {
    const j = randomInteger(random, 0, i);
    const [a, b] = [all[i], all[j]];
    if (a !== undefined && b !== undefined) [all[i], all[j]] = [b, a];
  }
  return all;
}
