import { type Rule, recorded } from '../rule.ts';

export const packingRules: readonly Rule[] = [
  {
    id: 'E19',
    title: 'packing: what stays',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-port-mapping.ts',
        search: 'updated.push({ slice: relabelled(slice), endpoints: [...held] });',
        replace: 'updated.push({ slice, endpoints: [...held] });',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-port-mapping.ts',
        search: 'const desired = rest.take(endpoint);',
        replace: 'const desired = rest.get(endpoint);',
        tests: ['libs/controllers/src/endpointslice/reconcile-by-port-mapping.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-port-mapping.ts',
        search: 'changed ||= !endpointsEqualBeyondHash(desired, endpoint);',
        replace: '',
        tests: ['libs/controllers/src/endpointslice/reconcile-by-port-mapping.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-port-mapping.ts',
        search: 'if (kept.length === 0) toDelete.push(slice);\n      else updated',
        replace: 'updated',
        tests: ['libs/controllers/src/endpointslice/reconcile-by-port-mapping.test.ts'],
      },
    ],
  },
  {
    id: 'E20',
    title: 'packing: slices written anyway',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-port-mapping.ts',
        search: 'b.endpoints.length - a.endpoints.length',
        replace: 'a.endpoints.length - b.endpoints.length',
        tests: ['libs/controllers/src/endpointslice/reconcile-by-port-mapping.test.ts'],
      },
    ],
  },
  {
    id: 'E21',
    title: 'packing: the rest',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-port-mapping.ts',
        search: 'room < 0 || room >= leastRoom',
        replace: 'room < 0 || closest !== null',
        tests: ['libs/controllers/src/endpointslice/reconcile-by-port-mapping.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-port-mapping.ts',
        search: 'left.length < maxEndpointsPerSlice ?',
        replace: 'left.length < 0 ?',
        tests: ['libs/controllers/src/endpointslice/reconcile-by-port-mapping.test.ts'],
      },
    ],
  },
  {
    id: 'E22',
    title: 'placement left to chance',
    note: 'but each endpoint is placed once',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-port-mapping.ts',
        search: 'const desired = rest.take(endpoint);',
        replace: 'const desired = rest.get(endpoint);',
        tests: ['libs/controllers/src/endpointslice/convergence.test.ts'],
      },
    ],
  },
  {
    id: 'E23',
    title: 'ports of no Pod',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: 'for (const [key, obsolete] of existing) if (!groups.has(key)) toDelete.push(...obsolete);',
        replace: '',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'E24',
    title: 'placeholder',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: '(endpoints ?? []).length === 0 &&',
        replace: '',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: 'existing.length !== toDelete.length || toCreate.length > 0',
        replace: 'existing.length !== toDelete.length',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: 'toDelete.length === 1 && only',
        replace: 'only',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: 'return { ...changes, toCreate: [placeholder] };',
        replace: 'return changes;',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: 'return { ...changes, toDelete: [] };',
        replace: 'return { ...changes, toCreate: [placeholder] };',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'E25',
    title: 'new slice',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/slice.ts',
        search: 'return canBeginName(prefix) ? prefix : name;',
        replace: 'return name;',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts', recorded('slicePrefix')],
      },
      {
        file: 'libs/controllers/src/endpointslice/slice.ts',
        search: 'controller: true, blockOwnerDeletion',
        replace: 'controller: false, blockOwnerDeletion',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'E26',
    title: 'labels',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/slice.ts',
        search: '[serviceNameLabel, managedByLabel, headlessLabel]',
        replace: '[serviceNameLabel, managedByLabel]',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/slice.ts',
        search: 'withoutKeys(labels, reservedLabels), withoutKeys',
        replace: 'withoutKeys(labels, Object.keys(labels ?? {})), withoutKeys',
        tests: ['libs/controllers/src/endpointslice/reconcile-by-port-mapping.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/slice.ts',
        search: "    ...(!isServiceIpSet(service) && { [headlessLabel]: '' }),\n",
        replace: '',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'E27',
    title: 'recycling',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/slice.ts',
        search: ' || !canRecycle(existing)',
        replace: '',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/slice.ts',
        search: 'const last = toCreate.at(-1);',
        replace: 'const last = toCreate.at(0);',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'E28',
    title: 'order and texts',
    broken: [
      {
        file: 'services/writer/src/apply/apply-mutations.ts',
        search: "if (step.status !== 'applied') break;",
        replace: '',
        tests: ['services/writer/src/apply/apply-mutations.test.ts'],
      },
      {
        file: 'libs/controllers/src/failure-events.ts',
        search: "? 'error deleting' : 'failed to delete'",
        replace: "? 'failed to delete' : 'error deleting'",
        tests: ['libs/controllers/src/failure-events.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: 'for (const slice of recycled.toDelete) mutations.push(deletion(slice));',
        replace: 'for (const slice of recycled.toDelete) mutations.unshift(deletion(slice));',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'E29',
    title: 'Service being deleted',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: 'if (!service.deleting)\n',
        replace: '',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'E30',
    title: 'trigger time, tracker',
    broken: [
      {
        file: 'libs/service-state/src/apply-outcome.ts',
        search: 'next = endpointSliceTracker.expectDeletion(next, { metadata: { uid: mutation.uid } });',
        replace: '',
        tests: ['libs/service-state/src/apply-outcome.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: 'mutations.push(creation(withTriggerTime(slice, triggerTime)))',
        replace: 'mutations.push(creation(slice))',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/slice.ts',
        search: 'const others = withoutKeys(annotations, [triggerTimeAnnotation]);',
        replace: 'const others = annotations;',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/service-state/src/apply-outcome.ts',
        search: '        next = endpointSliceTracker.update(next, { metadata: stored });',
        replace: '        continue;',
        tests: ['libs/service-state/src/apply-outcome.test.ts'],
      },
    ],
  },
  {
    id: 'E31',
    title: 'preconditions',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-port-mapping.ts',
        search: 'updated.map(({ slice, endpoints }) => ({ ...slice, endpoints }))',
        replace:
          "updated.map(({ slice, endpoints }) => ({ ...slice, metadata: { ...slice.metadata, resourceVersion: '' }, endpoints }))",
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
];
