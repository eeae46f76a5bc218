import type { ManagerChanges, ReadinessChanges } from './file-propagations.ts';
import type { NodeDisruption } from './node-changes.ts';
import type { NodeImpact } from './node-impact.ts';
import type { PodTimeline } from './pod-timelines.ts';
import type { ServiceProblem } from './problems/joined-problems.ts';
import type { Propagation } from './propagations.ts';
import type { RecordedPeriod } from './queries.ts';
import type { StoredRecord } from './records.ts';

interface Answer {
  /** Files or parts of files that cannot be read, for people. */
  readonly unreadable: readonly string[];
}

/** What a recording covers. */
export interface Coverage extends Answer {
  /** In the order of time. */
  readonly periods: readonly RecordedPeriod[];
  /** Between the periods. */
  readonly gaps: readonly RecordedPeriod[];
  /** Whether a file has pseudonyms in place of names, addresses, labels and texts. */
  readonly isRedacted: boolean;
}

export interface RecordedProblems extends Answer {
  readonly problems: readonly ServiceProblem[];
}

export interface RecordedHistory extends Answer {
  readonly records: readonly StoredRecord[];
}

/** How the Pods of a Service were over a period. */
export interface RecordedPods extends Answer {
  /** When it begins: later than asked for if there are too many records. In milliseconds since the Unix epoch. */
  readonly from: number;
  readonly to: number;
  readonly pods: readonly PodTimeline[];
}

export interface RecordedPropagations extends Answer {
  readonly propagations: readonly Propagation[];
}

export interface RecordedReadiness extends Answer {
  /** Most changes first. */
  readonly pods: readonly ReadinessChanges[];
}

export interface RecordedManagerChanges extends Answer {
  readonly services: readonly ManagerChanges[];
}

export interface RecordedNodeDisruptions extends Answer {
  /** Whether an event of these Nodes was recorded, also outside of the period. */
  readonly isKnown: boolean;
  /** In the order of their start. */
  readonly disruptions: readonly RecordedNodeDisruption[];
}

export interface RecordedNodeDisruption extends Omit<NodeDisruption, 'services'> {
  /** Those with Pods on the Node. */
  readonly services: readonly DisruptedService[];
}

export interface DisruptedService extends NodeImpact {
  /** Formatted key of the Service. */
  readonly key: string;
  /** When it lost its last ready endpoint meanwhile; without an end, it continued. In milliseconds since the Unix epoch. */
  readonly outages: readonly { readonly from: number; readonly to: number | null }[];
}

export interface RecordedRemovals extends Answer {
  /**
   * How long it took until slices showed that ready Pods were no longer: milliseconds, by formatted key of the Service.
   */
  readonly removals: ReadonlyMap<string, readonly number[]>;
}
