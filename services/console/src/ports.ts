import type { ParkedKey } from './fleet/parked-key.ts';
import type { ClusterView, DeadLetterView, OutageView, PartitionView, TraceView } from './view/schemas.ts';

/** Part of a recording, in milliseconds since the Unix epoch. */
export interface RecordedRange {
  readonly since: number;
  readonly until: number;
  /** Enough records: earlier ones are not needed, even if they are later than `since`. */
  readonly records: number;
}

/** A history on disk. It reaches further back than the one in memory. */
export interface Recording {
  /** Records of a Service, by formatted key, beginning with a snapshot; none if it has no snapshot. */
  readonly read: (
    key: string,
    range: RecordedRange,
  ) => Promise<{ readonly records: readonly RecordedRecord[]; readonly problems: readonly string[] }>;
  /** Outages that overlap with a period, in the order of their start. */
  readonly outages: (period: { readonly from: number; readonly to: number }) => Promise<{
    readonly outages: readonly RecordedOutage[];
    readonly problems: readonly string[];
  }>;
  readonly coverage: () => Promise<{
    /** In the order of time, with gaps between them. */
    readonly periods: readonly { readonly from: number; readonly to: number }[];
    /** What cannot be read, for people. */
    readonly problems: readonly string[];
  }>;
}

/** Time in which a Service had no ready endpoint, in milliseconds since the Unix epoch. */
export interface RecordedOutage {
  /** Formatted key of the Service. */
  readonly key: string;
  readonly from: number;
  /** Null: until the end of the recording. */
  readonly to: number | null;
  /** False: it began before the recording, or before the Service was first published. */
  readonly isStartKnown: boolean;
  /** The last event of the Service or its Pods before; null: none was recorded. */
  readonly event: string | null;
}

interface RecordedRecord {
  readonly topic: 'changes' | 'mutations';
  /** An encoded message. */
  readonly payload: Uint8Array;
  readonly receivedAt: number;
  readonly traceparent?: string;
}

/** Data besides the history. Routes whose source is missing answer 404. */
export interface ConsoleSources {
  /** Set while a server that all of this depends on does not answer, store or bus; everything may be outdated. */
  readonly outage?: () => OutageView | null;
  /** Problems of the store's servers, for people. Default: none. */
  readonly storeProblems?: () => readonly string[];
  readonly clusters: () => readonly ClusterView[];
  /** Default: the history in memory is all. */
  readonly recording?: Recording | undefined;
  readonly partitions?: () => Promise<readonly PartitionView[]>;
  /** Default: plans in the history that the API server refused. */
  readonly parked?: () => Promise<readonly ParkedKey[]>;
  readonly deadLetters?: () => Promise<readonly DeadLetterView[]>;
  /**
   * Reads a recorded trace; null if there is none with this id.
   *
   * @throws Error with a message for people if the trace backend does not answer
   */
  readonly trace?: ((traceId: string) => Promise<TraceView | null>) | undefined;
}

/** Why `fetch` failed: the wrapped error says more than "fetch failed". */
export function fetchFailure(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}
