import { defaultSettings, neverStale, type ReconcilerPolicy, type Settings } from '@sluice/service-state';
import type { Layer, Scenario } from './scenario.ts';

/** Shorter than in production, so that a parked Service is tried again within every bound. */
const parkedRetryMs = 5_000;

/** The settings of the reconcilers. */
export function settingsOf({ maxEndpointsPerSlice, batchPeriodMs, disabled }: Scenario): Settings {
  return {
    ...defaultSettings,
    maxEndpointsPerSlice,
    parkedRetryMs,
    policy: policyWithout(disabled),
    batchPeriodMs: { endpoints: batchPeriodMs, endpointslice: batchPeriodMs, endpointslicemirroring: batchPeriodMs },
  };
}

function policyWithout(disabled: readonly Layer[]): ReconcilerPolicy {
  return {
    ...neverStale,
    ...(disabled.includes('tombstones') && { isDeleted: () => false }),
    ...(disabled.includes('versions') && { order: (version, known) => (version === known ? 0 : 1) }),
  };
}
