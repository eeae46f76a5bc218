import type { Rule } from '../rule.ts';

const reconciler = 'libs/controllers/src/endpointslicemirroring/controller.ts';
const mirroredSlice = 'libs/controllers/src/endpointslicemirroring/mirrored-slice.ts';
const addresses = 'libs/controllers/src/endpointslicemirroring/mirrored-addresses.ts';
const reconcilerTest = 'libs/controllers/src/endpointslicemirroring/controller.test.ts';
const failuresTest = 'libs/controllers/src/failure-events.test.ts';

/** What the mirroring controller writes. */
export const mirroredSliceRules: readonly Rule[] = [
  {
    id: 'H13',
    title: 'merged groups',
    broken: [
      {
        file: addresses,
        search: 'groups.get(key) ?? {',
        replace: '{',
        tests: [reconcilerTest],
      },
      {
        file: addresses,
        search: '  group.endpoints.insert(mirroredEndpoint(',
        replace:
          '  if (group.endpoints.get(mirroredEndpoint(ip.text, address, ready)) === undefined) group.endpoints.insert(mirroredEndpoint(',
        tests: [reconcilerTest],
      },
    ],
  },
  {
    id: 'H14',
    title: 'no placeholder',
    broken: [
      {
        file: addresses,
        search: 'portKeys.add(key);',
        replace:
          "portKeys.add(key); groups.set(groupKey('IPv4', key), { addressType: 'IPv4', ports, endpoints: new EndpointSet() });",
        tests: [reconcilerTest],
      },
    ],
  },
  {
    id: 'H15',
    title: 'one slice per group',
    differs: true,
    broken: [
      {
        file: reconciler,
        search: 'toDelete.push(...candidates.filter((slice) => slice !== kept));',
        replace: '',
        tests: [reconcilerTest],
      },
      {
        file: reconciler,
        search: 'candidates.filter(({ metadata }) => metadata.deletionTimestamp === undefined)',
        replace: 'candidates',
        tests: [reconcilerTest],
      },
      {
        file: mirroredSlice,
        search: 'equalStringMaps(withoutKeys(slice.metadata.labels, ownLabels), endpoints.metadata.labels) &&',
        replace: '',
        tests: [reconcilerTest],
      },
      {
        file: mirroredSlice,
        search: 'equalStringMaps(slice.metadata.annotations, mirroredAnnotations(endpoints)) &&',
        replace: '',
        tests: [reconcilerTest],
      },
      {
        file: mirroredSlice,
        search: 'return endpointsEqualBeyondHash(desired, endpoint);',
        replace: 'return true;',
        tests: [reconcilerTest],
      },
      {
        file: mirroredSlice,
        search: "kind === 'Endpoints' && name === metadata.name",
        replace: 'name === metadata.name',
        tests: [reconcilerTest],
      },
      {
        file: mirroredSlice,
        search: "&& uid !== (metadata.uid ?? '')",
        replace: "&& uid !== (metadata.uid ?? '') && uid === ''",
        tests: [reconcilerTest],
      },
      {
        file: 'libs/service-state/src/reconcile.ts',
        search: 'if (!written.has(slice.metadata.name)) next = endpointSliceTracker.update(next, slice);',
        replace: '',
        tests: ['libs/service-state/src/decide.test.ts'],
      },
    ],
  },
  {
    id: 'H16',
    title: 'new body',
    differs: true,
    broken: [
      {
        file: mirroredSlice,
        search: '    ...metadata.labels,\n',
        replace: '',
        tests: [reconcilerTest],
      },
      {
        file: mirroredSlice,
        search: '[triggerTimeAnnotation, lastAppliedAnnotation]',
        replace: '[triggerTimeAnnotation]',
        tests: [reconcilerTest],
      },
      {
        file: mirroredSlice,
        search: "ownerReference('Endpoints', name, uid ?? '')",
        replace: "ownerReference('Service', name, uid ?? '')",
        tests: [reconcilerTest],
      },
      {
        file: mirroredSlice,
        search: 'firstOf(group.endpoints, max)',
        replace: '[...group.endpoints]',
        tests: [reconcilerTest],
      },
    ],
  },
  {
    id: 'H17',
    title: 'what is skipped',
    broken: [
      {
        file: reconciler,
        search: '  if (invalid > 0) {',
        replace: '  if (invalid > 1) {',
        tests: [reconcilerTest],
      },
      {
        file: reconciler,
        search: 'if (skipped > invalid) {',
        replace: 'if (skipped > 0) {',
        tests: [reconcilerTest],
      },
    ],
  },
  {
    id: 'H18',
    title: 'slices not wanted',
    broken: [
      {
        file: reconciler,
        search: 'for (const [key, obsolete] of existing) if (!groups.has(key)) toDelete.push(...obsolete);',
        replace: '',
        tests: [reconcilerTest],
      },
    ],
  },
  {
    id: 'H19',
    title: 'recycling',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpointslicemirroring/mirrored-slice.ts',
        search: 'deletes.findIndex(({ addressType }) => addressType === body.addressType)',
        replace: 'deletes.length - 1',
        tests: [reconcilerTest, 'libs/controllers/src/endpointslicemirroring/convergence.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslicemirroring/mirrored-slice.ts',
        search: 'if (existing === undefined) creates.push(body);',
        replace: 'if (existing === undefined || updates.length > 0) creates.push(body);',
        tests: [reconcilerTest],
      },
    ],
  },
  {
    id: 'H20',
    title: 'order and texts',
    broken: [
      {
        file: reconciler,
        search: 'if (endpoints.metadata.deletionTimestamp === undefined) for',
        replace: 'for',
        tests: [reconcilerTest],
      },
      {
        file: reconciler,
        search: 'for (const slice of deletes) mutations.push(deletion(slice));',
        replace: 'for (const slice of deletes) mutations.unshift(deletion(slice));',
        tests: [reconcilerTest],
      },
      {
        file: 'libs/controllers/src/failure-events.ts',
        search: "return sliceFailureText('Endpoints', endpoints, failure);",
        replace: "return sliceFailureText('Service', endpoints, failure);",
        tests: [failuresTest],
      },
    ],
  },
  {
    id: 'H21',
    title: 'no trigger time',
    broken: [
      {
        file: mirroredSlice,
        search: '[triggerTimeAnnotation, lastAppliedAnnotation]',
        replace: '[lastAppliedAnnotation]',
        tests: [reconcilerTest],
      },
      {
        file: mirroredSlice,
        search: '[triggerTimeAnnotation, lastAppliedAnnotation]',
        replace: "[triggerTimeAnnotation, lastAppliedAnnotation, 'endpoints.kubernetes.io/over-capacity']",
        tests: [reconcilerTest],
      },
    ],
  },
  {
    id: 'H22',
    title: 'reserved labels',
    differs: true,
    broken: [
      {
        file: reconciler,
        search: 'if (!isNoOp(existing, updated)) mutations.push(replacement(updated));',
        replace: 'mutations.push(replacement(updated));',
        tests: [reconcilerTest],
      },
    ],
  },
];
