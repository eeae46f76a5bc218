import type { Tracer } from '@sluice/telemetry';

/** Whose spans they are. */
export type TracedService = 'watcher' | 'reconciler' | 'writer';

/** One tracer for each service, also where all of them are in one process: a trace looks the same either way. */
export type Tracers = Readonly<Record<TracedService, Tracer>>;
