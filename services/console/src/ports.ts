import type { BusRecord, Topic } from '@sluice/bus';
import type { Recording } from '@sluice/recording';
import type { ProblemRule } from '@sluice/recording/problems';
import type { ParkedKey } from './fleet/parked-key.ts';
import type { ClusterView, DeadLetterView, OutageView, PartitionView, TraceView } from './view/schemas.ts';

/** What records the messages of a bus. */
export interface RecordSink {
  add(topic: Topic, record: BusRecord): void;
}

/** `unauthenticated`: the cluster does not accept the token. */
export type Review = 'allowed' | 'denied' | 'unauthenticated';

/** Asks API servers what a reader may read, with the reader's own token. */
export interface AccessReviewer {
  /** Identities of the clusters that can be asked. */
  clusters(): readonly string[];
  /**
   * Whether the EndpointSlices of the namespace may be listed; undefined: those of all namespaces.
   *
   * @throws Error if the API server does not answer
   */
  review(cluster: string, token: string, namespace: string | undefined): Promise<Review>;
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
  /** How problems of the recording count. Default: by their reasons. */
  readonly problemRules?: readonly ProblemRule[] | undefined;
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
