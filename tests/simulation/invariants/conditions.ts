import type { InjectedFaults } from '../injected-faults.ts';
import { type FaultKind, hasLayersOff, repaired, type Scenario } from '../scenario.ts';

/** Losses after which a plan may be applied after a newer one. */
const forgetful: readonly FaultKind[] = [
  ...(['store wiped', 'store rolled back', 'scope rolled back', 'stored value unreadable'] as const),
  'store loss at an operation',
  ...(['leases lost', 'store clock set ahead', 'etcd restored'] as const),
];

/** What the run has injected so far, which decides what may happen. */
export class Conditions {
  /** Whether API servers check the resourceVersion of a write. */
  readonly hasPreconditions: boolean;
  /** Whether processes stop when their leases have expired by their own clock. */
  readonly hasExpiry: boolean;
  /** Whether digests correct what a layer that is off would have kept away. */
  readonly isRepaired: boolean;
  /** Whether a watcher knows the last Change of the one before it. */
  readonly hasEpochs: boolean;
  readonly partitions: number;
  /** Whether messages are sent in chunks, which hides the content of deliveries. */
  readonly #isChunked: boolean;
  readonly #faults: InjectedFaults;

  constructor(scenario: Scenario, faults: InjectedFaults) {
    const { disabled, recordBytes, partitions } = scenario;
    this.#faults = faults;
    this.hasPreconditions = !disabled.includes('preconditions');
    this.hasExpiry = !disabled.includes('expiry');
    this.isRepaired = hasLayersOff(scenario, ...repaired);
    this.hasEpochs = !disabled.includes('epochs');
    this.#isChunked = recordBytes !== null;
    this.partitions = partitions;
  }

  /** Whether logs, checkpoints and leases are as the processes have left them. */
  get isIntact(): boolean {
    return !this.#faults.areLossy;
  }

  /** Whether the store keeps what was applied, and gives no lease to two members. */
  get isOrdered(): boolean {
    return !this.#faults.has(...forgetful);
  }

  /** Whether the system clocks of processes are right. */
  get hasSystemTime(): boolean {
    return !this.#faults.has('clock step');
  }

  /** Whether clusters have no older versions than before. */
  get isRestored(): boolean {
    return this.#faults.has('etcd restored');
  }

  /** Whether processes can read what logs and the store contain, as can invariants, which do not join chunks. */
  get isReadable(): boolean {
    return (
      !this.#isChunked && !this.#faults.has('etcd restored', 'message of another version', 'stored value unreadable')
    );
  }

  /** Whether lists may lack objects that exist. Of so few objects, the guard against mass removals lets a server delete all that lists none. */
  get hasWholeLists(): boolean {
    return !this.#faults.has('etcd restored', 'empty lists');
  }
}
