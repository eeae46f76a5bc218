import type { Clock } from '@sluice/platform';
import type { Metrics } from './metrics.ts';

export interface WatchIdleTimes {
  /** Called for each event of a watch. */
  observe(resource: string): void;
  close(): void;
}

/** Exposes the time since the last event of each watch of a cluster. */
export function watchIdleTimes(metrics: Metrics | undefined, identity: string, clock: Clock): WatchIdleTimes {
  const observedAt = new Map<string, number>();
  const gauges: (() => void)[] = [];
  return {
    observe(resource) {
      if (metrics !== undefined && !observedAt.has(resource)) {
        const idleSeconds = () => (clock.monotonic() - (observedAt.get(resource) ?? 0)) / 1000;
        gauges.push(metrics.show({ identity, resource }, { sluice_watch_idle_seconds: idleSeconds }));
      }
      observedAt.set(resource, clock.monotonic());
    },
    close() {
      for (const remove of gauges) remove();
    },
  };
}
