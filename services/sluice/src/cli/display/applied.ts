import type { Outcome, PlannedMutations } from '@sluice/messages';

/** One plan with its Outcome, as the displays show it. */
export interface Applied {
  readonly cluster: string;
  readonly plan: PlannedMutations;
  readonly outcome: Outcome;
  /** From the watch event to the API server's last response, in milliseconds. */
  readonly latencyMs: number;
}
