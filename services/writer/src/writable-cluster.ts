import type { EventToRecord } from '@sluice/controllers';
import type { ClusterWriter } from '@sluice/kubernetes';
import type { PlannedMutations } from '@sluice/messages';
import type { Contestant } from './find-contestant.ts';
import type { RemovalBrake } from './removal-brake.ts';
import type { RequestLimit } from './sending.ts';

/** A cluster as the writer needs it. */
export interface WritableCluster {
  readonly writer: ClusterWriter;
  /** Address of its API server, if it has one. */
  readonly server?: string | undefined;
  /** When its requests are let through. */
  readonly limit: RequestLimit;
  /** Default: nothing that is removed needs to be confirmed. */
  readonly brake?: RemovalBrake;
  /** What is done about another writer that undoes this one's writes again and again. Default: nothing. */
  readonly contests?: Contests;
  /** Records Kubernetes Events, as best it can: it never fails. */
  record(events: readonly EventToRecord[]): void;
}

export interface Contests {
  /** What this program is called in `managedFields`. */
  readonly ownManager: string;
  /** Told of each plan that puts right what was put right several times before. */
  found(plan: PlannedMutations, contestant: Contestant): void;
}
