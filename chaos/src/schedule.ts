import { type Random, randomInteger } from '@sluice/runtime';

/** Faults of any process: Sluice's roles and the servers. */
export type Disturbance = 'kill' | 'freeze' | 'restart';
/** Data losses of the servers beyond those of a crash. */
export type Loss = 'wipe' | 'restore snapshot' | 'purge' | 'lose last records' | 'outlast duplicate window';

export const roles = ['watcher', 'reconciler', 'writer'] as const;
export type Role = (typeof roles)[number];
export type Server = 'bus' | 'store';

export type Kind = `${Disturbance} ${Role | Server}` | `${Loss} ${Server}`;

/** One fault to inject. */
export interface Action {
  /** Milliseconds since the start of the schedule. */
  readonly at: number;
  readonly kind: Kind;
  /** Name of the process: `reconciler-2`, `bus`, `store`. */
  readonly target: string;
  /** Random number in [0, 1) that seeds the details of the action. */
  readonly random: number;
}

/** Number of processes per role. */
export type Replicas = Readonly<Record<Role, number>>;

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
const losses: readonly Kind[] = [
  'wipe store',
  'restore snapshot store',
  'purge bus',
  'lose last records bus',
  'outlast duplicate window bus',
];

/** Kinds of actions for this bus. Faults of roles occur twice as often. */
export function chaosActions(bus: 'nats' | 'kafka'): readonly Kind[] {
  const each = <T extends Role | Server>(targets: readonly T[]) =>
    targets.flatMap((target) => disturbances.map((what) => `${what} ${target}` as const));
  // Kafka has no duplicate window.
  const known = losses.filter((loss) => bus === 'nats' || loss !== 'outlast duplicate window bus');
  return [...each(roles), ...each(roles), ...each(['bus', 'store'] as const), ...known];
}

/** Freezes of lease owners for longer than their leases. */
export const freezeActions: readonly Kind[] = roles.map((role) => `freeze ${role}` as const);

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

function targetOf(kind: Kind, crew: Replicas, random: Random): string {
  const whom = kind.slice(kind.lastIndexOf(' ') + 1);
  const role = roles.find((known) => known === whom);
  return role === undefined ? whom : `${role}-${randomInteger(random, 1, crew[role])}`;
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
