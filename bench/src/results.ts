import type { LoadReport } from './load.ts';
import type { Cost } from './meter.ts';
import type { Shape } from './shape.ts';

/** Milliseconds from the answer to a Pod's status write to the event that shows it. */
export interface Latency {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

export interface ColdStart {
  /** From the start of the process until each Service is complete. */
  readonly completeSeconds: number;
  /** From the start of the process to the first event of anything written. */
  readonly firstWriteSeconds: number;
  readonly cost: Cost;
}

export interface RateResult {
  /** What happened, unless that were flips. */
  readonly phase?: string;
  /** Flips a second, as planned. */
  readonly rate: number;
  readonly flips: number;
  /** In the EndpointSlices. */
  readonly latencyMs: Latency;
  /** In the Endpoints; undefined where these are too long to be followed. */
  readonly endpointsLatencyMs: Latency | undefined;
  /** Flips that were never seen. */
  readonly missing: number;
  /** Flips without a latency because their Pod had to flip again. */
  readonly superseded: number;
  /** From the last flip to the last event. */
  readonly settleSeconds: number;
  readonly load: LoadReport;
  /** From the first flip until all is quiet. */
  readonly cost: Cost;
}

/** One controller, measured once. */
export interface Run {
  readonly controller: string;
  readonly round: number;
  readonly coldStart: ColdStart;
  /** Started again with everything written but one flip. */
  readonly restart?: ColdStart;
  readonly rates: readonly RateResult[];
}

/** All that a call of the bench has found out; what `--json` writes. */
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
