import { decodeMessage, type PlannedMutations } from '@sluice/messages';

/** Observes all plans of the fleet, including those that the bus loses later. */
export interface PlanObserver {
  /** Waits until everything on the bus has been observed. The bus must be running or starting. */
  caughtUp(): Promise<void>;
  close(): Promise<void>;
}

/** Called for each plan, possibly more than once, with its encoded message. */
export type OnPlan = (plan: PlannedMutations, payload: Uint8Array) => void;

/** Passes on a record if it is a plan. Dead-lettering others is up to the fleet. */
export function forwardPlan(payload: Uint8Array, onPlan: OnPlan): void {
  let message: ReturnType<typeof decodeMessage>;
  try {
    message = decodeMessage(payload);
  } catch {
    return;
  }
  if (message.kind === 'mutations') onPlan(message, payload);
}
