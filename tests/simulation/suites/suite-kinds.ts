/** What happens to processes, their machines and their connections, in each suite. */
export const processKinds = [
  ...(['process is killed', 'process stops', 'process freezes', 'machine pauses', 'clock is set'] as const),
  ...(['link is cut', 'link is slow', 'requests wait', 'requests fail', 'requests are late', 'wrong answers'] as const),
] as const;

const leaseKinds = ['Lease is deleted', 'Lease is edited', 'Leases are rolled back'] as const;

/** What happens in each suite. A kind that stands there twice is as likely as two. */
export const suiteKinds = {
  election: ['process starts', 'link is cut', ...processKinds, ...leaseKinds],
  claims: [
    ...(['process starts', ...processKinds, ...leaseKinds] as const),
    ...([
      'store is down',
      'cluster is replaced',
      'operator accepts',
      'pins are rolled back',
      'cluster is removed',
    ] as const),
  ],
  partitions: [
    ...(['process starts', ...processKinds, 'event loop is blocked', 'event loop is blocked'] as const),
    ...(['lease thread fails', 'work does not stop', 'partitions are set', 'partitions are set'] as const),
    ...(['partitions are set, half way', 'partitions are set, half way', 'partitions are set twice'] as const),
  ],
  removals: [
    ...(['lists lack objects', 'watches report deletions', 'Services are scaled to zero'] as const),
    ...(['Pods become ready', 'Pods become unready', 'fleet restarts'] as const),
  ],
  clusters: [
    ...(['cluster is removed or added', 'removal is interrupted', 'removal is interrupted'] as const),
    ...(['cluster is removed while the fleet is down', 'cluster is removed while it is unreachable'] as const),
    ...(['cluster is removed or added', 'another cluster is added', 'fleet is down'] as const),
    ...(['cluster is forgotten', 'cluster is forgotten twice', 'forgetting is interrupted'] as const),
    ...(['API server is down', 'another fleet claims a cluster', 'Pods change'] as const),
    ...(['process is killed', 'process stops', 'process freezes'] as const),
  ],
} as const;

export type SuiteName = keyof typeof suiteKinds;
export type SuiteEventKind<Name extends SuiteName = SuiteName> = (typeof suiteKinds)[Name][number];

export const suiteNames = Object.keys(suiteKinds) as readonly SuiteName[];

/** One seed in eight runs a suite, which takes less time than a fleet. */
const everyNth = 8;

/** The suite that a seed runs; undefined: a fleet. */
export function suiteOf(seed: number): SuiteName | undefined {
  if (seed % everyNth !== everyNth - 1) return undefined;
  return suiteNames[Math.floor(seed / everyNth) % suiteNames.length];
}
