import type { PlantedBug } from '@sluice/program/planted-bug';

const controllers = 'libs/controllers/src';

export const controllerBugs: readonly PlantedBug[] = [
  {
    name: 'no slice is filled up completely',
    file: `${controllers}/endpointslice/reconcile-by-port-mapping.ts`,
    search: 'if (room < 0 || room >= leastRoom) continue;',
    replace: 'if (room <= 0 || room >= leastRoom) continue;',
  },
  {
    name: 'the last endpoint of a slice decides whether it has changed',
    file: `${controllers}/endpointslice/reconcile-by-port-mapping.ts`,
    search: 'changed ||= !endpointsEqualBeyondHash(desired, endpoint);',
    replace: 'changed = !endpointsEqualBeyondHash(desired, endpoint);',
  },
  {
    name: 'a terminating Pod of a Service that publishes all addresses is not ready',
    file: `${controllers}/endpointslice/desired-endpoints.ts`,
    search: 'service.publishNotReadyAddresses || (serving && !terminating)',
    replace: '(service.publishNotReadyAddresses || serving) && !terminating',
  },
  {
    name: 'a Pod whose named port changes keeps its slice',
    file: `${controllers}/endpointslice/cached-packing.ts`,
    search: 'if (!isSameEndpoint(known, endpoint) || !samePorts(service, was.pod, is.pod)) return undefined;',
    replace: 'if (!isSameEndpoint(known, endpoint)) return undefined;',
  },
  {
    name: 'the cache keeps the endpoints of the decision before',
    file: `${controllers}/endpointslice/cached-packing.ts`,
    search: '  for (const [name, endpoint] of changed) byPod.set(name, endpoint);\n',
    replace: '',
  },
  {
    name: 'hints at the maximum of a zone are computed again',
    file: `${controllers}/endpointslice/topology-hints.ts`,
    search: 'if (count + (allocated.get(zone) ?? 0) > (allocations.get(zone)?.maximum ?? 0)) return null;',
    replace: 'if (count + (allocated.get(zone) ?? 0) >= (allocations.get(zone)?.maximum ?? 0)) return null;',
  },
  {
    name: 'endpoints are moved into a slice that is being deleted',
    file: `${controllers}/endpointslice/compact-slices.ts`,
    search: 'if (slice.metadata.deletionTimestamp !== undefined || !ownedBy(slice, service)) continue;',
    replace: 'if (!ownedBy(slice, service)) continue;',
  },
  {
    name: 'Endpoints are deleted before their Service is created',
    file: `${controllers}/endpoints/controller.ts`,
    search: 'inputs.orphaned && existing !== null ? planOf(',
    replace: 'existing !== null ? planOf(',
  },
  {
    name: 'truncated Endpoints have fewer than a thousand addresses',
    file: `${controllers}/endpoints/controller.ts`,
    search: 'Math.min(Math.ceil((count / total) * room), left)',
    replace: 'Math.min(Math.floor((count / total) * room), left)',
  },
  {
    name: 'of several mirrored slices the one that is right is replaced',
    file: `${controllers}/endpointslicemirroring/controller.ts`,
    search: 'return right ?? living[0] ?? candidates[0] ?? null;',
    replace: 'return living[0] ?? right ?? candidates[0] ?? null;',
  },
];
