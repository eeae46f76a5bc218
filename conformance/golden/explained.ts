interface Group {
  readonly why: string;
  /** What differs. */
  readonly what: 'objects' | 'events';
  /** Whether the scenarios differ as shipped, too. */
  readonly asShipped: boolean;
  readonly scenarios: readonly string[];
}

/**
 * Scenarios that differ although all deviations are reproduced (docs/reference/parity.md, "Scenarios that still differ").
 * The list is exact: a listed scenario that does not differ fails.
 */
const groups: readonly Group[] = [
  {
    why: 'the namespace terminates: upstream ends the sync at the failed create, Sluice still applies what does not depend on it',
    what: 'objects',
    asShipped: true,
    scenarios: ['faults/endpointslice/101-653'],
  },
  {
    why: 'a Pod changes twice before anything runs: upstream’s handlers see both changes, a Change has only the last',
    what: 'objects',
    asShipped: false,
    scenarios: [
      'faults/endpoints/101-747',
      'faults/endpoints/101-766',
      'lag/endpoints/101-344',
      'lag/endpoints/101-483',
      'plain/endpoints/101-753',
      'plain/endpoints/101-1007',
      'hints/endpointslice/101-100',
      'hints/endpointslice/101-540',
      'large/endpointslice/101-16',
      'plain/endpointslice/101-236',
    ],
  },
  {
    why: 'the same, with an effect on Warnings only',
    what: 'events',
    asShipped: false,
    scenarios: ['faults/endpointslice/101-704'],
  },
  {
    why: 'the end of a batch period and that of the round fall together',
    what: 'objects',
    asShipped: false,
    scenarios: ['hints/endpointslice/101-118'],
  },
  {
    why: 'two items fall due at the same instant, and Sluice decides once more or once less (B2)',
    what: 'events',
    asShipped: false,
    scenarios: [
      'faults/endpointslice/101-276',
      'hints/endpointslice/101-110',
      'hints/endpointslice/101-204',
      'plain/endpointslice/101-225',
    ],
  },
  {
    why: 'of two Services, upstream syncs the other one first, which meets the failing request',
    what: 'events',
    asShipped: false,
    scenarios: ['faults/endpointslice/101-78'],
  },
  {
    why: 'upstream knows the hints of a deleted Service when it is created again (E8, F9, F11)',
    what: 'events',
    asShipped: false,
    scenarios: [
      'hints/endpointslice/101-21',
      'hints/endpointslice/101-221',
      'hints/endpointslice/101-310',
      'hints/endpointslice/101-425',
      'hints/endpointslice/101-453',
      'hints/endpointslice/101-526',
      'hints/endpointslice/101-593',
    ],
  },
  {
    why: 'upstream syncs with any update of a terminating Pod (C12), Sluice only if a field changes that it reads',
    what: 'events',
    asShipped: false,
    scenarios: ['hints/endpointslice/101-520', 'hints/endpointslice/101-576', 'nonode/endpointslice/103-16'],
  },
  {
    why: 'upstream fails as stale, without an Event, until its own writes are in its caches (C20)',
    what: 'events',
    asShipped: false,
    scenarios: [
      'lag/endpointslice/101-1',
      'lag/endpointslice/101-136',
      'lag/endpointslice/101-310',
      'lag/endpointslice/101-372',
      'lag/endpointslice/101-508',
      'lag/endpointslice/101-579',
    ],
  },
];

export const explainedScenarios: readonly string[] = groups.flatMap(({ scenarios }) => scenarios);

const groupOf = (name: string, asShipped: boolean): Group | undefined =>
  groups.find((group) => group.scenarios.includes(name) && (!asShipped || group.asShipped));

/** Whether the scenario is listed, so that it must differ. */
export const isListed = (name: string, asShipped: boolean): boolean => groupOf(name, asShipped) !== undefined;

/** Whether all differences of the scenario are listed. */
export function isExplained(name: string, differences: readonly string[], asShipped: boolean): boolean {
  const group = groupOf(name, asShipped);
  return group?.what === 'objects' || (group !== undefined && differences.every((line) => line.includes(' events: ')));
}
