import { type Rule, recorded } from '../rule.ts';

const hash = 'libs/model/src/hashing/fnv-1a-128.ts';
const hashTest = 'libs/model/src/hashing/fnv-1a-128.test.ts';
const portKey = 'libs/controllers/src/endpointslice/endpoint-identity.ts';
const dump = 'libs/controllers/src/endpoints/subset-dump.ts';

export const hashingRules: readonly Rule[] = [
  {
    id: 'L1',
    title: 'FNV-1a, 128 bit',
    broken: [
      {
        file: hash,
        search: 'const toF = (a << 8) & 0xffff;',
        replace: 'const toF = (a << 7) & 0xffff;',
        tests: [hashTest, recorded('fnv128a')],
      },
      {
        file: hash,
        search: '0x6c62, 0x272e',
        replace: '0x272e, 0x6c62',
        tests: [hashTest, recorded('fnv128a')],
      },
      {
        file: hash,
        search: 'if (text.charCodeAt(i) > 127) return false;',
        replace: 'if (text.charCodeAt(i) > 255) return false;',
        tests: [recorded('fnv128a')],
      },
    ],
  },
  {
    id: 'L2',
    title: 'dump of slice ports',
    broken: [
      {
        file: portKey,
        search: "port.appProtocol ?? '<nil>'",
        replace: "port.appProtocol ?? ''",
        tests: [recorded('portMapKey')],
      },
      {
        file: portKey,
        search: "ports.map(fields).join(' ')",
        replace: 'ports.map(fields).join()',
        tests: [recorded('portMapKey')],
      },
    ],
  },
  {
    id: 'L3',
    title: 'dump of Endpoints ports',
    broken: [
      {
        file: dump,
        search: "port.appProtocol ?? '<nil>'",
        replace: "port.appProtocol ?? ''",
        tests: [recorded('repackSubsets')],
      },
      {
        file: dump,
        search: "port.name ?? ''",
        replace: "port.name ?? '<nil>'",
        tests: [recorded('repackSubsets')],
      },
    ],
  },
  {
    id: 'L4',
    title: 'dump of subsets',
    broken: [
      {
        file: dump,
        search: "address.nodeName ?? '<nil>'",
        replace: "address.nodeName ?? ''",
        tests: [recorded('repackSubsets')],
      },
      {
        file: dump,
        search: 'if (items === null || items === undefined)',
        replace: 'if (items === null)',
        tests: [recorded('repackSubsets')],
      },
    ],
  },
  {
    id: 'L5',
    title: 'order depends on content',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/repack-subsets.ts',
        search: 'return sortedByHash(subsets, (subset) => fnv1a128(dumpEndpointSubset(subset)));',
        replace: 'return subsets;',
        tests: [recorded('repackSubsets')],
      },
      {
        file: 'libs/controllers/src/endpoints/repack-subsets.ts',
        search: 'return sortedByHash(ports, (port) => portHash(dumpEndpointsPort(port)));',
        replace: 'return ports;',
        tests: [recorded('repackSubsets')],
      },
    ],
  },
  {
    id: 'L6',
    title: 'floating point',
    broken: [
      {
        file: 'libs/controllers/src/trackers/topology-cache.ts',
        search: '1 / (1 + overloadThreshold)',
        replace: '0.8333',
        tests: [recorded('topologyHints')],
      },
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: 'const share = ratio * endpoints;',
        replace: 'const share = Math.fround(ratio) * endpoints;',
        tests: [recorded('topologyHints')],
      },
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: 'Math.ceil(share * minLoadShare)',
        replace: 'Math.round(share * minLoadShare)',
        tests: [recorded('topologyHints')],
      },
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: 'Math.ceil((count / total) * room)',
        replace: 'Math.round((count / total) * room)',
        tests: [recorded('truncateEndpoints')],
      },
      {
        file: 'libs/model/src/projections/project-node.ts',
        search: '(scaled + divisor - 1n) / divisor',
        replace: 'scaled / divisor',
        tests: ['libs/model/src/projections/projections.test.ts'],
      },
    ],
  },
];
