import type { Conditions } from './conditions.ts';
import type { Histogram } from './histogram.ts';
import type { LoadReport } from './load.ts';
import type { Cost } from './meter.ts';
import type { Shape } from './shape.ts';

/** How flips arrived in EndpointSlices or in Endpoints; `FlipTracker` defines each figure. Latencies are in milliseconds. */
export interface Arrival {
  /** For percentiles over all rounds. */
  readonly histogram: Histogram;
  readonly max: number;
  /** Flips that no event showed. */
  readonly missing: number;
  /** Flips without a latency because their Pod flipped again before an event showed them. */
  readonly cancelled: number;
}

export interface ColdStart {
  /** From the process start until each Service is complete. */
  readonly completeSeconds: number;
  /** From the process start to the first event of a write. */
  readonly firstWriteSeconds: number;
  readonly cost: Cost;
}

export interface RateResult {
  /** Name of the phase; absent for flips. */
  readonly phase?: string;
  /** Planned flips per second. */
  readonly rate: number;
  readonly flips: number;
  readonly slices: Arrival;
  /** Absent if they are not what the controller writes. */
  readonly endpoints?: Arrival | undefined;
  /** From the last flip to the last event. */
  readonly convergenceSeconds: number;
  readonly load: LoadReport;
  /** From the first flip to the last event. */
  readonly cost: Cost;
}

/** One measurement of one controller. */
export interface Run {
  readonly controller: string;
  readonly round: number;
  readonly coldStart: ColdStart;
  /** A restart with everything written except one flip. */
  readonly restart?: ColdStart;
  readonly rates: readonly RateResult[];
}

/** All results of a call; the format of `--json`. */
export interface Results {
  readonly version: 2;
  readonly conditions: Conditions;
  readonly command: string;
  readonly kubernetes: string;
  readonly fsync: boolean;
  readonly shape: Shape;
  /** Shortest duration at a rate in one round; `secondsAt` prolongs it. */
  readonly seconds: number;
  readonly rounds: number;
  readonly runs: readonly Run[];
}
