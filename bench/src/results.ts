import type { LoadReport } from './load.ts';
import type { Cost } from './meter.ts';
import type { Shape } from './shape.ts';

/** Milliseconds from the response to a Pod's status write to the event that shows it. */
export interface Latency {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
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
  /** In the EndpointSlices. */
  readonly latencyMs: Latency;
  /** In the Endpoints; undefined if these are too long to be parsed during the measurement. */
  readonly endpointsLatencyMs: Latency | undefined;
  /** Flips that no event showed. */
  readonly missing: number;
  /** Flips without a latency because their Pod flipped again. */
  readonly superseded: number;
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
  readonly version: 1;
  readonly command: string;
  readonly startedAt: string;
  readonly machine: string;
  readonly commit: string;
  readonly node: string;
  readonly kubernetes: string;
  readonly fsync: boolean;
  readonly shape: Shape;
  readonly seconds: number;
  readonly rounds: number;
  readonly runs: readonly Run[];
}
