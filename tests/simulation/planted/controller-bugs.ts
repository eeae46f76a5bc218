import type { PlantedBug } from '@sluice/program/planted-bug';

const controllers = 'libs/controllers/src';

export const controllerBugs: readonly PlantedBug[] = [
  {
    name: 'Endpoints list Pods that are not ready as ready',
    file: `${controllers}/endpoints/desired-subsets.ts`,
    search: 'return service.publishNotReadyAddresses || pod.ready;',
    replace: 'return service.publishNotReadyAddresses || pod.ready || pod.nodeName.length > 0;',
  },
  {
    name: 'Endpoints keep old labels',
    file: `${controllers}/endpoints/controller.ts`,
    search: 'if (!areLabelsCorrect(existing, service) || !isCapacityAnnotationCorrect(existing)) return false;',
    replace: 'if (!isCapacityAnnotationCorrect(existing)) return false;',
  },
  {
    name: 'a changed endpoint leaves its slice alone',
    file: `${controllers}/endpointslice/reconcile-by-port-mapping.ts`,
    search: 'changed ||= !endpointsEqualBeyondHash(desired, endpoint);',
    replace: '',
  },
  {
    name: 'slices overflow',
    file: `${controllers}/endpointslice/reconcile-by-port-mapping.ts`,
    search: 'const room = Math.max(0, max - endpoints.length);',
    replace: 'const room = Math.max(0, max + 1 - endpoints.length);',
  },
  {
    name: 'slices keep old labels',
    file: `${controllers}/endpointslice/reconcile-by-port-mapping.ts`,
    search: '} else if (hasSliceLabels(slice, service)) {',
    replace: '} else if (hasSliceLabels(slice, service) || slice.metadata.name.length > 0) {',
  },
  {
    name: 'Pods without a Node are published',
    file: `${controllers}/endpointslice/desired-endpoints.ts`,
    search: '  if (node === null && !service.publishNotReadyAddresses) return undefined;\n',
    replace: '',
  },
  {
    name: 'hints of a traffic distribution are not corrected',
    file: `${controllers}/endpointslice/slice-hints.ts`,
    search: "return !names(zones, endpoint.zone ?? '') ||",
    replace: 'return zones.length > 1 ||',
  },
  {
    name: 'mirrored slices of other ports stay',
    file: `${controllers}/endpointslicemirroring/controller.ts`,
    search: 'for (const [key, obsolete] of existing) if (!groups.has(key)) toDelete.push(...obsolete);',
    replace: '',
  },
  {
    name: 'Endpoints of a Service with selector are mirrored',
    file: `${controllers}/endpointslicemirroring/controller.ts`,
    search: ' || service === null || service.selector !== null) {',
    replace: ' || service === null) {',
  },
  {
    name: 'a terminating Pod serves no longer',
    file: `${controllers}/endpointslice/desired-endpoints.ts`,
    search: 'const serving = pod.ready;',
    replace: 'const serving = pod.ready && !pod.terminating;',
  },
  {
    name: 'only the first address of a Pod is published',
    file: `${controllers}/endpointslice/desired-endpoints.ts`,
    search: 'for (const text of pod.ips) {',
    replace: 'for (const text of pod.ips.slice(0, 1)) {',
  },
  {
    name: 'slices of a headless Service lack their label',
    file: `${controllers}/endpointslice/slice.ts`,
    search: "    ...(!isServiceIpSet(service) && { [headlessLabel]: '' }),\n",
    replace: '',
  },
];
