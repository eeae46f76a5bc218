import { controllers } from '@sluice/controllers';
import { type Causes, isServiceKey, noCauses, parseServiceKey, type ServiceKey } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import type { ControllerState } from '@sluice/service-state';
import type { Store } from '@sluice/store';
import type { ParkedView } from '../view/schemas.ts';

/** A Service that a controller has parked, with the reason. */
export interface ParkedKey {
  /** `CLUSTER/NAMESPACE/SERVICE/CONTROLLER` */
  readonly name: string;
  readonly key: ServiceKey;
  /** Absent if unknown. */
  readonly clusterName?: string;
  readonly controller: Controller;
  readonly reason: string;
  /** When it was parked, in milliseconds since the Unix epoch. */
  readonly since: number;
  /** Time of the next retry; null: only after a change or a resync. */
  readonly nextTryAt: number | null;
  /** Causes of the parked plan. */
  readonly causes: Causes;
}

const prefix = 'controller/';

/** All parked keys of a fleet, sorted by name. Reads the store without a lease. */
export async function findParked(store: Store, partitions: number): Promise<readonly ParkedKey[]> {
  const found: ParkedKey[] = [];
  for (let partition = 0; partition < partitions; partition++) {
    for (const { key, field, value } of await store.find(`reconciler/${partition}`, prefix)) {
      const controller = controllers.find((name) => field === `${prefix}${name}`);
      // Large parts of a controller's state are stored in fields of their own, below its prefix.
      if (controller === undefined) continue;
      // A reconciler discards what it cannot read.
      if (!isServiceKey(key) || typeof value !== 'object' || value === null) continue;
      const { retries, timers, causes = noCauses } = value as Partial<ControllerState>;
      if (typeof retries?.parked !== 'string') continue;
      found.push({
        name: `${key}/${controller}`,
        key: parseServiceKey(key),
        controller,
        reason: retries.parked,
        since: retries.parkedSince ?? 0,
        nextTryAt: timers?.dueAt ?? null,
        causes,
      });
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Converts a console response, which has no causes. */
export function toParkedKey(view: Omit<ParkedView, 'clusterName'> & { readonly clusterName?: string }): ParkedKey {
  const { cluster, clusterName, namespace, name: service, controller, message: reason, since, nextTryAt } = view;
  return {
    name: `${cluster}/${namespace}/${service}/${controller}`,
    key: { cluster, namespace, service },
    ...(clusterName !== undefined && { clusterName }),
    controller: controller as Controller,
    reason,
    since,
    nextTryAt,
    causes: noCauses,
  };
}

export interface ParkedFilter {
  readonly cluster?: string;
  readonly namespace?: string;
}

export function matchesFilter({ key, clusterName }: ParkedKey, { cluster, namespace }: ParkedFilter): boolean {
  return (
    (cluster === undefined || cluster === key.cluster || cluster === clusterName) &&
    (namespace ?? key.namespace) === key.namespace
  );
}

/** Finds keys by `[CLUSTER/]NAMESPACE/SERVICE`, `NAMESPACE/SERVICE/CONTROLLER` or the full name. */
export function findByName(keys: readonly ParkedKey[], text: string): readonly ParkedKey[] {
  return keys.filter(({ name, key, clusterName, controller }) => {
    const service = `${key.namespace}/${key.service}`;
    return [
      name,
      `${key.cluster}/${service}`,
      `${clusterName ?? key.cluster}/${service}`,
      service,
      `${service}/${controller}`,
    ].includes(text);
  });
}
