import { decodeMessage, type PlannedMutations } from '@sluice/messages';

/** Reads all plans along with the fleet, and keeps what the bus loses. */
export interface PlanObserver {
  /** Waits until everything that is in the bus by now has been seen; the bus must be up, or come up. */
  caughtUp(): Promise<void>;
  close(): Promise<void>;
}

/** Told of each plan, often twice; with the bytes of its message. */
export type OnPlan = (plan: PlannedMutations, payload: Uint8Array) => void;

/** Tells of a record if it is a plan; what is none is the fleet's to set aside. */
export function tellPlan(payload: Uint8Array, onPlan: OnPlan): void {
  let message: ReturnType<typeof decodeMessage>;
  try {
    message = decodeMessage(payload);
  } catch {
    return;
  }
  if (message.kind === 'mutations') onPlan(message, payload);
}
