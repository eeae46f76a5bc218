import type { z } from 'zod';
import type { clusterView, deadLetterView, parkedView, partitionView, TraceView } from './view/schemas.ts';

export type ClusterView = Omit<z.infer<typeof clusterView>, 'services'>;
export type PartitionView = z.infer<typeof partitionView>;
export type DeadLetterView = z.infer<typeof deadLetterView>;

export type ParkedView = Omit<z.infer<typeof parkedView>, 'clusterName'>;

/** What the console asks of whoever runs it, besides the history. What is absent is answered with "not here". */
export interface ConsoleSources {
  readonly clusters: () => readonly ClusterView[];
  readonly partitions?: () => Promise<readonly PartitionView[]>;
  /** Default: what the history tells of Outcomes. */
  readonly parked?: () => Promise<readonly ParkedView[]>;
  readonly deadLetters?: () => Promise<readonly DeadLetterView[]>;
  /**
   * A trace that was recorded; null: there is none of that id. The browser never asks Jaeger, only whoever runs this does.
   *
   * @throws Error, in words for people, where Jaeger does not answer
   */
  readonly trace?: ((traceId: string) => Promise<TraceView | null>) | undefined;
}
