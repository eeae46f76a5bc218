/** What happens in each suite. A kind that stands there twice is as likely as two. */
export const suiteKinds = {
  election: [
    ...(['candidate starts', 'candidate is killed', 'candidate stops', 'candidate freezes', 'machine pauses'] as const),
    ...(['clock is set', 'link is cut', 'link is cut', 'link is slow', 'requests wait', 'requests fail'] as const),
    ...([
      'requests are late',
      'wrong answers',
      'Lease is deleted',
      'Lease is edited',
      'Leases are rolled back',
    ] as const),
  ],
  claims: [
    ...(['process starts', 'process is killed', 'process stops', 'process freezes', 'machine pauses'] as const),
    ...([
      'clock is set',
      'link is cut',
      'link is slow',
      'requests wait',
      'requests fail',
      'requests are late',
    ] as const),
    ...(['wrong answers', 'Lease is deleted', 'Lease is edited', 'Leases are rolled back', 'store is down'] as const),
    ...(['cluster is replaced', 'operator accepts', 'pins are rolled back', 'cluster is removed'] as const),
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
