import type { ScenarioOptions } from './scenario.ts';
import type { RunResult } from './simulation.ts';

export interface SeedRequest {
  readonly seed: number;
  readonly options: ScenarioOptions;
}

export interface SeedReport extends Omit<RunResult, 'scenario'> {
  readonly seed: number;
  readonly tookMs: number;
}
