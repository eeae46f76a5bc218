import { controllers } from '@sluice/controllers';
import type { Controller } from '@sluice/model';
import type { BackoffOptions } from '@sluice/platform';
import type { AdaptiveBatching } from './adaptive-batch.ts';
import { neverStale, type ReconcilerPolicy } from './policy.ts';

export interface Settings {
  /** Enabled controllers. */
  readonly controllers: ReadonlySet<Controller>;
  /** `--max-endpoints-per-slice`, 1–1000 (A5). */
  readonly maxEndpointsPerSlice: number;
  /** `--mirroring-max-endpoints-per-subset`, 1–1000 (A5). */
  readonly maxEndpointsPerSubset: number;
  /** How long the first of several Pod changes waits for the others (C8, E4), in milliseconds. Default: not at all. */
  readonly batchPeriodMs: Readonly<Record<Controller, number>>;
  /** Batches changes of busy Services whose slices many clients watch; null: never. */
  readonly batching: AdaptiveBatching | null;
  /** Clients that watch all EndpointSlices, for the metric of watch traffic. */
  readonly sliceWatchers: number;
  readonly policy: ReconcilerPolicy;
  /** Delay between failed plans of one Service. */
  readonly backoff: BackoffOptions;
  /** Failed requests in a row after which the key is parked (B4). */
  readonly maxAttempts: number;
  /** Retry interval of a parked key in milliseconds; null: only a change or a resync helps. */
  readonly parkedRetryMs: number | null;
}

export const defaultSettings: Settings = {
  controllers: new Set(controllers),
  maxEndpointsPerSlice: 100,
  maxEndpointsPerSubset: 1000,
  batchPeriodMs: {},
  batching: null,
  sliceWatchers: 100,
  policy: neverStale,
  backoff: { baseMs: 50, maxMs: 30_000 },
  maxAttempts: 16,
  parkedRetryMs: 60_000,
};
