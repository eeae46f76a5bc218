import { type Controller, controllers } from '@sluice/controllers';
import { type Causes, noCauses, parseServiceKey, type ServiceKey } from '@sluice/messages';
import type { ControllerState } from '@sluice/service-state';
import type { Store } from '@sluice/store';
import type { ParkedView } from '../ports.ts';

/** A Service that a controller has parked, with the reason. */
export interface ParkedKey {
  /** `CLUSTER/NAMESPACE/SERVICE/CONTROLLER` */
  readonly name: string;
  readonly key: ServiceKey;
  readonly controller: Controller;
  readonly reason: string;
  /** Since when nothing went through, in milliseconds since the Unix epoch. */
  readonly since: number;
  /** When it is tried again by itself; null: only with a change or a resync. */
  readonly nextTryAt: number | null;
  /** What asked for that which does not go through. */
  readonly causes: Causes;
}

const prefix = 'controller/';

/** All that the reconcilers of a fleet have parked, by name. The store is read along; nobody is disturbed. */
export async function findParked(store: Store, partitions: number): Promise<readonly ParkedKey[]> {
  const found: ParkedKey[] = [];
  for (let partition = 0; partition < partitions; partition++) {
    for (const { key, field, value } of await store.find(`reconciler/${partition}`, prefix)) {
      const controller = controllers.find((one) => field === `${prefix}${one}`);
      // What is large in a state is stored beside it, under names that begin with its own.
      if (controller === undefined) continue;
      const { parked, parkedSince, dueAt, causes } = value as ControllerState;
      if (parked === null) continue;
      found.push({
        name: `${key}/${controller}`,
        key: parseServiceKey(key),
        controller,
        reason: parked,
        since: parkedSince ?? 0,
        nextTryAt: dueAt,
        causes,
      });
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** As a console tells it, which does not say what it was for. */
export function parkedKeyOf(view: ParkedView): ParkedKey {
  const { cluster, namespace, name: service, controller, message: reason, since, nextTryAt } = view;
  return {
    ...{ name: `${cluster}/${namespace}/${service}/${controller}`, key: { cluster, namespace, service } },
    ...{ controller: controller as Controller, reason, since, nextTryAt, causes: noCauses },
  };
}

export interface ParkedFilter {
  readonly cluster?: string;
  readonly namespace?: string;
}

export function matches({ key }: ParkedKey, { cluster, namespace }: ParkedFilter): boolean {
  return (cluster ?? key.cluster) === key.cluster && (namespace ?? key.namespace) === key.namespace;
}

/** Those that a text names: a whole name, or its end from the namespace on, with or without the controller. */
export function named(keys: readonly ParkedKey[], text: string): readonly ParkedKey[] {
  return keys.filter(({ name, key, controller }) => {
    const service = `${key.namespace}/${key.service}`;
    return [name, `${key.cluster}/${service}`, service, `${service}/${controller}`].includes(text);
  });
}
