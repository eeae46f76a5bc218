import type { ScenarioOptions } from './scenario.ts';
import type { RunResult } from './simulation.ts';

export interface SeedRequest {
  readonly seed: number;
  readonly options: ScenarioOptions;
}

export interface SeedReport extends Omit<RunResult, 'scenario'> {
  readonly seed: number;
  /** Processor time, which other programs on the machine do not change. */
  readonly cpuMs: number;
}
