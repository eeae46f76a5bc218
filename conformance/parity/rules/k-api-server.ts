import { type Rule, recorded } from '../rule.ts';

export const apiServerRules: readonly Rule[] = [
  {
    id: 'K1',
    title: 'generated names',
    differs: true,
    broken: [
      {
        file: 'libs/service-state/src/derived-name.ts',
        search: 'const maxBaseLength = 58;',
        replace: 'const maxBaseLength = 63;',
        tests: ['libs/service-state/src/derived-name.test.ts'],
      },
    ],
  },
  {
    id: 'K2',
    title: 'updates without resourceVersion',
    note: 'never sent',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/finalize.ts',
        search: 'name, ...(resourceVersion !== undefined && { resourceVersion }) } };',
        replace: 'name } };',
        tests: ['libs/service-state/src/decide.test.ts'],
      },
    ],
  },
  {
    id: 'K3',
    title: 'limits of slices',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-port-mapping.ts',
        search: 'const room = Math.max(0, max - endpoints.length);',
        replace: 'const room = Math.max(0, max + 1 - endpoints.length);',
        tests: ['libs/controllers/src/endpointslice/convergence.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslicemirroring/mirrored-slice.ts',
        search: 'if (first.length >= max) break;',
        replace: '',
        tests: ['libs/controllers/src/endpointslicemirroring/convergence.test.ts'],
      },
    ],
  },
  {
    id: 'K4',
    title: 'generation',
    broken: [
      {
        file: 'fake-apiserver/src/server/metadata.ts',
        search: '(same ? 0 : 1)',
        replace: '1',
        tests: ['fake-apiserver/src/server/server.test.ts'],
      },
    ],
  },
  {
    id: 'K5',
    title: 'updates that change nothing',
    note: 'never sent',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpoints/reconcile-endpoints.ts',
        search: 'if (policy.isNoOp(existing, updated)) return decision(emptyPlan);',
        replace: '',
        tests: ['libs/controllers/src/endpoints/reconcile-endpoints.test.ts'],
      },
    ],
  },
  {
    id: 'K6',
    title: 'order of subsets is kept',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/reconcile-endpoints.ts',
        search: ' || (!isCanonical(subsets) && equalSubsets(repackSubsets(subsets), desired))',
        replace: '',
        tests: ['libs/controllers/src/endpoints/reconcile-endpoints.test.ts'],
      },
    ],
  },
  {
    id: 'K7',
    title: 'update of a missing object',
    broken: [
      {
        file: 'services/writer/src/apply/apply-mutations.ts',
        search: "if (error.kind !== 'conflict') {",
        replace: "if (error.kind !== 'conflict' || error.status === 404) {",
        tests: ['services/writer/src/apply/apply-mutations.test.ts'],
      },
    ],
  },
  {
    id: 'K8',
    title: 'deprecatedTopology',
    note: 'not written',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/pod-to-endpoint.ts',
        search: "...(node !== null && node.zone !== '' && { zone: node.zone }),",
        replace:
          "...(node !== null && node.zone !== '' && { zone: node.zone, deprecatedTopology: { zone: node.zone } }),",
        tests: [recorded('podToEndpoint')],
      },
    ],
  },
  {
    id: 'K9',
    title: 'owner references',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/new-slice.ts',
        search: 'blockOwnerDeletion: true',
        replace: 'blockOwnerDeletion: false',
        tests: ['libs/controllers/src/endpointslice/reconcile-endpointslices.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslicemirroring/mirrored-slice.ts',
        search: "ownerReference('Endpoints', name, uid ?? '')",
        replace: "ownerReference('Endpoints', name, '')",
        tests: ['libs/controllers/src/endpointslicemirroring/reconcile-mirroring.test.ts'],
      },
    ],
  },
];
