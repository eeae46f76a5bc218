import type { Interruption } from '../suites/clusters/removal-steps.ts';
import type { SuiteEventKind } from '../suites/suite-kinds.ts';

export type Event = readonly [atMs: number, kind: SuiteEventKind<'clusters'>];

interface RemovalCourse {
  /** Interrupted is the command, or the first event. */
  readonly events: readonly Event[];
  readonly how: readonly Interruption['how'][];
}

const ends = 'ends after';
/** A process that continues later matters only if the cluster has been added meanwhile. */
const freezes = 'freezes after';

/** How a cluster is removed. */
export const courses = {
  'a cluster is removed': { events: [[6_000, 'removal is interrupted']], how: [ends] },
  'a cluster is removed and added again': {
    events: [
      [6_000, 'removal is interrupted'],
      [13_000, 'cluster is removed or added'],
    ],
    how: [ends, freezes],
  },
  'a cluster is removed while the fleet is down': {
    events: [[6_000, 'cluster is removed while the fleet is down']],
    how: [ends],
  },
  'a cluster is replaced while the fleet is down': {
    events: [
      [6_000, 'cluster is removed while the fleet is down'],
      [13_000, 'another cluster is added'],
    ],
    how: [ends],
  },
  'a cluster is forgotten': {
    events: [
      [6_000, 'cluster is removed while the fleet is down'],
      [13_000, 'forgetting is interrupted'],
    ],
    how: [ends],
  },
  'a cluster is forgotten and added again': {
    events: [
      [6_000, 'cluster is removed while the fleet is down'],
      [13_000, 'forgetting is interrupted'],
      [26_000, 'cluster is removed or added'],
    ],
    how: [freezes],
  },
} as const satisfies Readonly<Record<string, RemovalCourse>>;

export type Course = keyof typeof courses;

/** Scenario seeds of fleets that differ: of single roles, and of workers. */
export const fleets = { roles: 1, workers: 2 } as const;
export type FleetKind = keyof typeof fleets;
