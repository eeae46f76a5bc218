/**
 * Behaviours of upstream that Sluice avoids (docs/deviations.md), by the rule that describes them. None is wanted in a
 * cluster; they are reproduced where a run is compared with a recording of upstream.
 */
export type Quirk =
  /** A plan that failed is retried at the very times of upstream's queues, and so is one that is incomplete (E15). */
  | 'B3'
  /** A slice that somebody relabelled is waited for, until the Service is deleted or the watcher starts again. */
  | 'C21'
  /** Only what upstream's handlers notice leads to a decision (C12, D3, E3–E6, F14, H1–H4). */
  | 'D3'
  /** A change of allocatable CPU alone is not noticed. */
  | 'E3'
  /** A mirrored slice that holds some endpoints twice and lacks as many others is left alone. */
  | 'H15'
  /** Mirrored slices are recycled by their names, so that a plan of both families may never succeed. */
  | 'H19'
  /** Updates that change nothing are sent (D20, D21, H22). */
  | 'K5';

export const noQuirks: ReadonlySet<Quirk> = new Set();
