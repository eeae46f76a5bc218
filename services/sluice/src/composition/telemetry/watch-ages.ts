import type { Resource } from '@sluice/kubernetes';
import type { Clock } from '@sluice/runtime';
import type { Metrics } from '@sluice/telemetry';

/** Time of the last event of each watch of a cluster. */
export interface WatchAges {
  heard(resource: Resource): void;
  close(): void;
}

/** Exposes the time since the last event of each watch. */
export function watchAges(metrics: Metrics | undefined, identity: string, clock: Clock): WatchAges {
  const heardAt = new Map<Resource, number>();
  const shown: (() => void)[] = [];
  return {
    heard(resource) {
      if (metrics !== undefined && !heardAt.has(resource)) {
        const age = () => (clock.monotonic() - (heardAt.get(resource) ?? 0)) / 1000;
        shown.push(metrics.changes.showWatchAge(identity, resource, age));
      }
      heardAt.set(resource, clock.monotonic());
    },
    close() {
      for (const hide of shown) hide();
    },
  };
}
