import { ChunkAssembler, chunkOf, type Delivery, largestMessageBytes } from '@sluice/bus';
import { decodeMessage, type PlannedMutations } from '@sluice/messages';

/** Observes all plans of the fleet, including those that the bus loses later. */
export interface PlanObserver {
  /** Waits until everything on the bus has been observed. The bus must be running or starting. */
  caughtUp(): Promise<void>;
  close(): Promise<void>;
}

/** Called for each plan, possibly more than once, with its encoded message. */
export type OnPlan = (plan: PlannedMutations, payload: Uint8Array) => void;

/** Joins the chunks of plans in one partition. Other records are ignored: dead-lettering them is up to the fleet. */
export class PlanAssembler {
  readonly #onPlan: OnPlan;
  readonly #chunks = new ChunkAssembler({ maxMessageBytes: largestMessageBytes, holdMs: 0, onDropped: () => {} });

  constructor(onPlan: OnPlan) {
    this.#onPlan = onPlan;
  }

  /** Records may be repeated. */
  add(record: Delivery): void {
    const chunk = chunkOf(record);
    const delivery = chunk === undefined ? record : this.#chunks.add(record, chunk, 0);
    if (delivery === undefined) return;
    const { payload } = delivery;
    let message: ReturnType<typeof decodeMessage>;
    try {
      message = decodeMessage(payload);
    } catch {
      return;
    }
    if (message.kind === 'mutations') this.#onPlan(message, payload);
  }
}
