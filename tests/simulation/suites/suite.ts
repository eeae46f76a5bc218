import type { Logger, Random, VirtualClock } from '@sluice/platform';
import type { Violations } from '../violations.ts';
import type { SuiteEventKind, SuiteName } from './suite-kinds.ts';

export interface SuitePorts {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly violations: Violations;
  readonly note: (actor: string, what: () => string) => void;
  readonly logger: (actor: string) => Logger;
}

/**
 * Production code in a world of its own, with a model of what it must do as the oracle: for parts that the fleets of the simulation do
 * without.
 */
export interface SuiteWorld<Name extends SuiteName = SuiteName> {
  /** Lets something happen, and says what. */
  act(kind: SuiteEventKind<Name>, random: Random): string;
  /** Compares with the model. */
  check(): void;
  /** Ends all faults. */
  heal(): void;
  /** What is not yet as it must be some time after the faults have ended. */
  unfinished(): string | undefined;
  /** That time, in milliseconds. */
  readonly boundMs: number;
  stop(): Promise<void>;
}
