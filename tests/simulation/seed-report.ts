import type { SmallState } from './exhaustive/interruption.ts';
import type { ScenarioOptions } from './scenario.ts';
import type { RunResult } from './simulation.ts';

export interface SeedRequest {
  readonly seed: number;
  readonly options: ScenarioOptions;
  /** A state of the small world in place of the seed's scenario. */
  readonly state?: SmallState;
  /** Run the scenario twice, and compare what happens. */
  readonly twice?: boolean;
}

export interface SeedReport extends Omit<RunResult, 'scenario' | 'boundMs'> {
  readonly seed: number;
  /** CPU time, which other programs on the machine do not change. */
  readonly cpuMs: number;
  /** Rare branches of production code that the seed has reached. */
  readonly reached: readonly string[];
}
