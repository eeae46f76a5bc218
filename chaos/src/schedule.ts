import { type Random, randomInteger } from '@sluice/runtime';

/** What can be done to any process: of Sluice, and to the servers that it stands on. */
export type Disturbance = 'kill' | 'freeze' | 'restart';
/** What the servers can lose beyond what a crash of theirs loses. */
export type Loss = 'wipe' | 'old snapshot' | 'purge' | 'lose the last records' | 'outlast the duplicate window';

export const roles = ['watcher', 'reconciler', 'writer'] as const;
export type Role = (typeof roles)[number];
export type Server = 'bus' | 'store';

export type Kind = `${Disturbance} ${Role | Server}` | `${Loss} ${Server}`;

/** One thing that is done to the fleet. */
export interface Action {
  /** Milliseconds since the schedule began. */
  readonly at: number;
  readonly kind: Kind;
  /** Name of the process concerned: `reconciler-2`, `bus`, `store`. */
  readonly target: string;
  /** From 0 up to 1: decides what else there is to decide of it. */
  readonly chance: number;
}

/** How many processes there are of each role. */
export type Crew = Readonly<Record<Role, number>>;

export interface ScheduleOptions {
  readonly actions: number;
  readonly crew: Crew;
  readonly random: Random;
  /** Each kind as often as it is in here, in an order left to chance, before any comes again. */
  readonly deck: readonly Kind[];
  /** Between one action and the next, in milliseconds: from, to. */
  readonly pauseMs: readonly [number, number];
}

const disturbances: readonly Disturbance[] = ['kill', 'freeze', 'restart'];
const losses: readonly Kind[] = [
  'wipe store',
  'old snapshot store',
  'purge bus',
  'lose the last records bus',
  'outlast the duplicate window bus',
];

/** All that may happen on this bus; what happens to the roles is in it twice. */
export function chaosDeck(bus: 'nats' | 'kafka'): readonly Kind[] {
  const each = <T extends Role | Server>(targets: readonly T[]) =>
    targets.flatMap((target) => disturbances.map((what) => `${what} ${target}` as const));
  // Kafka knows no duplicate window: a record that is appended again is there again.
  const known = losses.filter((loss) => bus === 'nats' || loss !== 'outlast the duplicate window bus');
  return [...each(roles), ...each(roles), ...each(['bus', 'store'] as const), ...known];
}

/** Owners that stop for longer than their leases last. */
export const freezeDeck: readonly Kind[] = roles.map((role) => `freeze ${role}` as const);

/** What is done and when. The same random numbers give the same schedule. */
export function schedule({ actions, crew, random, deck, pauseMs }: ScheduleOptions): readonly Action[] {
  const planned: Action[] = [];
  let left: Kind[] = [];
  let at = 0;
  while (planned.length < actions) {
    if (left.length === 0) left = shuffled(deck, random);
    const kind = left.pop();
    if (kind === undefined) throw new RangeError('a deck needs at least one kind of action');
    at += randomInteger(random, ...pauseMs);
    planned.push({ at, kind, target: targetOf(kind, crew, random), chance: random.next() });
  }
  return planned;
}

function targetOf(kind: Kind, crew: Crew, random: Random): string {
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
