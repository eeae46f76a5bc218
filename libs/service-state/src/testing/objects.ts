import type { EndpointSlice, Endpoints, StringMap } from '@sluice/model';
import { type ControllerState, initialControllerState } from '../controller-state.ts';

/** Objects of the Service shop/web for tests. What matters is given, the rest has ordinary values. */

export { aPodNamed as aPod, aService } from '@sluice/model/testing';

interface GivenMeta {
  readonly uid?: string;
  readonly version?: number;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
}

export const mirroring = 'endpointslicemirroring-controller.k8s.io';

export function aSlice(name: string, given: GivenMeta & { readonly manager?: string } = {}): EndpointSlice {
  const { uid = `uid-${name}`, version = 5, manager = 'endpointslice-controller.k8s.io' } = given;
  const labels = { 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': manager };
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'service-uid' }];
  return {
    metadata: { name, namespace: 'shop', uid, resourceVersion: `${version}`, generation: 1, labels, ownerReferences },
    addressType: 'IPv4',
    endpoints: [],
    ports: [],
  };
}

export function someEndpoints({ uid = 'endpoints-uid', version = 5, ...meta }: GivenMeta = {}): Endpoints {
  return { metadata: { name: 'web', namespace: 'shop', uid, resourceVersion: `${version}`, ...meta }, subsets: [] };
}

/** Some fields of some parts of a controller's state. */
export type GivenParts = { readonly [P in keyof ControllerState]?: Partial<ControllerState[P]> };

/** The initial state of a controller, or `before`, with these fields. */
export function aController(given: GivenParts, before: ControllerState = initialControllerState): ControllerState {
  const parts = Object.entries(given).map(([part, fields]) => {
    const known = before[part as keyof ControllerState];
    return [part, known === null || known === undefined || fields === null ? fields : { ...known, ...fields }];
  });
  return { ...before, ...Object.fromEntries(parts) };
}
