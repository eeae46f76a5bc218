import type { Bus } from '@sluice/bus';
import type { Clock } from '@sluice/platform';
import type { GroupState, Store } from '@sluice/store';
import { type Check, condition, type Health, LoopMonitor, SharedRequest } from '@sluice/telemetry';

import type { FleetGeneration } from './fleet-generation.ts';

interface RoleHealthOptions {
  readonly bus: Bus;
  readonly store: Store;
  readonly generation?: FleetGeneration;
  readonly clock: Clock;
  readonly member: string;
  readonly leaseTimes: { readonly ttlMs: number };
  /** Checks of this process's clusters. */
  readonly clusters: () => readonly Check[];
}

/** Health of a lease group in which this process takes part. */
export interface GroupHealth {
  heartbeat(): void;
  observe(state: GroupState): void;
  close(): void;
}

/** A heartbeat takes less than the lease; a loop that is silent for this long is stuck, in milliseconds. */
const stuckMs = 60_000;

/** Liveness and readiness of a role. */
export class RoleHealth implements Health {
  readonly #options: RoleHealthOptions;
  readonly #groups = new Map<
    string,
    { readonly loop: LoopMonitor; readonly ready: Check; readonly isMember: () => boolean }
  >();
  readonly #lists = new Map<string, Check>();
  readonly #servers: readonly Check[];

  constructor(options: RoleHealthOptions) {
    const { bus, store, generation, clock } = options;
    this.#options = options;
    const end = new SharedRequest(clock, () => bus.end('requests', 0));
    // This check also writes the number of partitions to a store that was wiped.
    const partitions = new SharedRequest(clock, async () => {
      if (generation === undefined) await store.setIfAbsent('partitions', String(bus.partitions));
      else await generation.isCurrent();
    });
    const responds = (name: string, request: SharedRequest<unknown>): Check => ({
      name,
      run: async () => {
        await request.send();
        return '';
      },
    });
    this.#servers = [responds('bus', end), responds('store', partitions)];
  }

  /** Checks of bus and store. */
  get backends(): readonly Check[] {
    return this.#servers;
  }

  /** Whether this process takes part in its groups: it may stand by for others. */
  get isMember(): boolean {
    const groups = [...this.#groups.values()];
    return groups.length > 0 && groups.every(({ isMember }) => isMember());
  }

  /** `scopes`: number of scopes of the group in which this process takes part. */
  group(group: string, scopes: () => number): GroupHealth {
    const { clock, member, leaseTimes } = this.#options;
    const loop = new LoopMonitor(`leases/${group}`, clock, stuckMs + 2 * leaseTimes.ttlMs);
    const maxAgeMs = 2 * leaseTimes.ttlMs;
    let heardAt: number | undefined;
    let held = 0;
    let counted: GroupState['leases'] | undefined;
    const run = (): string => {
      if (heardAt === undefined) throw new Error('not a member of the group yet');
      const ageMs = clock.monotonic() - heardAt;
      if (ageMs > maxAgeMs) throw new Error(`no heartbeat for ${(ageMs / 1000).toFixed(1)} s`);
      return held === 0 ? 'standby' : `holds ${held} of ${scopes()}`;
    };
    const isMember = () => heardAt !== undefined && clock.monotonic() - heardAt <= maxAgeMs;
    this.#groups.set(group, { loop, ready: { name: `leases/${group}`, run }, isMember });
    return {
      heartbeat: () => loop.heartbeat(),
      observe: ({ leases }) => {
        heardAt = clock.monotonic();
        // The same leases are the same object.
        if (counted === leases) return;
        counted = leases;
        held = leases.filter(({ holder }) => holder === member).length;
      },
      close: () => void this.#groups.delete(group),
    };
  }

  /** Adds a readiness check for the caches of a cluster that this process watches. */
  watching(cluster: string): { synced(): void; ended(): void } {
    let synced = false;
    const name = `caches/${cluster}`;
    this.#lists.set(
      cluster,
      condition(name, () => synced, 'caches not synced'),
    );
    return {
      synced() {
        synced = true;
      },
      ended: () => void this.#lists.delete(cluster),
    };
  }

  livez(): readonly Check[] {
    return [...this.#groups.values()].map(({ loop }) => loop.check);
  }

  readyz(): readonly Check[] {
    const shares = [...this.#groups.values()].map(({ ready }) => ready);
    return [...this.#servers, ...this.#options.clusters(), ...shares, ...this.#lists.values()];
  }
}
