import { type Rule, recorded } from '../rule.ts';

const server = 'fake-apiserver/src/server/server.ts';
const serverTest = 'fake-apiserver/src/server/server.test.ts';
const finalize = 'libs/controllers/src/endpointslice/slice.ts';
const endpointsTest = 'libs/controllers/src/endpoints/controller.test.ts';
const slicesTest = 'libs/controllers/src/endpointslice/controller.test.ts';

/** What the services rely on, and what the API server of the tests does. */
export const apiServerRules: readonly Rule[] = [
  {
    id: 'K1',
    title: 'generated names',
    differs: true,
    broken: [
      {
        file: 'libs/service-state/src/decide.ts',
        search: 'const maxBaseLength = 58;',
        replace: 'const maxBaseLength = 59;',
        tests: ['libs/service-state/src/decide.test.ts'],
      },
      {
        file: 'libs/service-state/src/decide.ts',
        search: "'bcdfghjklmnpqrstvwxz2456789'",
        replace: "'abcdfghjklmnpqrstvwxz2456789'",
        tests: ['libs/service-state/src/decide.test.ts'],
      },
      {
        file: 'fake-apiserver/src/server/names.ts',
        search: 'base.slice(0, maxBaseLength)',
        replace: 'base',
        tests: [serverTest],
      },
    ],
  },
  {
    id: 'K2',
    title: 'updates without resourceVersion',
    differs: true,
    broken: [
      {
        file: finalize,
        search: '...body.metadata, name, ...(resourceVersion !== undefined && { resourceVersion }) }',
        replace: '...body.metadata, name }',
        tests: ['libs/service-state/src/decide.test.ts'],
      },
      {
        file: finalize,
        search: '    ...(resourceVersion !== undefined && { resourceVersion }),\n',
        replace: '',
        tests: ['libs/service-state/src/decide.test.ts'],
      },
      {
        file: server,
        search: 'metadata.resourceVersion !== undefined && metadata.resourceVersion !== resourceVersion',
        replace: 'metadata.resourceVersion !== resourceVersion',
        tests: [serverTest],
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
        replace: 'if (first.length > max) break;',
        tests: ['libs/controllers/src/endpointslicemirroring/convergence.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslicemirroring/mirrored-slice.ts',
        search: 'deletes.findIndex(({ addressType }) => addressType === body.addressType)',
        replace: 'deletes.length - 1',
        tests: ['libs/controllers/src/endpointslicemirroring/convergence.test.ts'],
      },
      {
        file: 'fake-apiserver/src/server/validate-endpointslice.ts',
        search: 'endpoints: 1000, ports: 20_000, addresses: 100, zoneHints: 8, nodeHints: 8',
        replace: 'endpoints: 1001, ports: 20_001, addresses: 101, zoneHints: 9, nodeHints: 9',
        tests: [serverTest],
      },
      {
        file: 'fake-apiserver/src/server/validate-endpointslice.ts',
        search: 'old !== undefined && old.addressType !== object.addressType',
        replace: 'old === null',
        tests: [serverTest],
      },
    ],
  },
  {
    id: 'K4',
    title: 'generation',
    broken: [
      {
        file: 'fake-apiserver/src/server/metadata.ts',
        search: ' && semanticEqual(metadata.labels, oldMeta.labels)',
        replace: '',
        tests: [serverTest],
      },
      {
        file: 'fake-apiserver/src/server/metadata.ts',
        search: '(same ? 0 : 1)',
        replace: '1',
        tests: [serverTest],
      },
    ],
  },
  {
    id: 'K5',
    title: 'updates that change nothing',
    differs: true,
    broken: [
      {
        file: 'libs/model/src/equality.ts',
        search: 'structurallyEqual(content, contentAfter)',
        replace: 'content === contentAfter',
        tests: [endpointsTest],
      },
      {
        file: 'libs/model/src/equality.ts',
        search: '    equalStringMaps(a.labels, b.labels) &&\n',
        replace: '',
        tests: [{ file: endpointsTest, title: 'are updated if their set of labels' }],
      },
      {
        file: server,
        search: '    if (semanticEqual(old, next)) return withType(info, old);\n',
        replace: '',
        tests: [serverTest],
      },
    ],
  },
  {
    id: 'K6',
    title: 'order of subsets is kept',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: 'equalSubsets(repackSubsets(subsets), desired)',
        replace: 'equalSubsets(subsets, desired)',
        tests: [endpointsTest],
      },
      {
        file: 'fake-apiserver/src/server/prepare.ts',
        search: '  return prepared;\n',
        replace: `  if (info.name !== 'endpoints') return prepared;
  const reversed = arrayOf(prepared.subsets).map(asRecord).map((subset) => ({ ...subset, addresses: arrayOf(subset.addresses).toReversed() }));
  return { ...prepared, subsets: reversed };
`,
        tests: [serverTest],
      },
    ],
  },
  {
    id: 'K7',
    title: 'update of a missing object',
    broken: [
      {
        file: 'services/writer/src/apply/apply-mutations.ts',
        search: "if (error.kind !== 'conflict' && error.kind !== 'notFound') {",
        replace: "if (error.kind !== 'conflict') {",
        tests: ['services/writer/src/apply/apply-mutations.test.ts'],
      },
      {
        file: server,
        search: '!this.#features.createOnUpdate || !info.createOnUpdate',
        replace: '!this.#features.createOnUpdate',
        tests: [serverTest],
      },
    ],
  },
  {
    id: 'K8',
    title: 'deprecatedTopology',
    note: 'never written',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/desired-endpoints.ts',
        search: "...(node !== null && node.zone !== '' && { zone: node.zone }),",
        replace:
          "...(node !== null && node.zone !== '' && { zone: node.zone, deprecatedTopology: { zone: node.zone } }),",
        tests: [recorded('podToEndpoint')],
      },
      {
        file: 'fake-apiserver/src/server/prepare.ts',
        search: "info.name !== 'endpointslices' || semanticEqual(old?.endpoints, object.endpoints)",
        replace: "info.name !== 'endpointslices' || old !== undefined",
        tests: [serverTest],
      },
    ],
  },
  {
    id: 'K9',
    title: 'owner references',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/slice.ts',
        search: 'blockOwnerDeletion: true',
        replace: 'blockOwnerDeletion: false',
        tests: [slicesTest],
      },
      {
        file: 'libs/controllers/src/endpointslicemirroring/mirrored-slice.ts',
        search: "ownerReference('Endpoints', name, uid ?? '')",
        replace: "ownerReference('Endpoints', name, '')",
        tests: ['libs/controllers/src/endpointslicemirroring/controller.test.ts'],
      },
      {
        file: 'fake-apiserver/src/server/garbage-collector.ts',
        search: 'if (owners.length > 0 && orphaned) this.#store.remove(resource, object);',
        replace: '',
        tests: [serverTest],
      },
    ],
  },
];
