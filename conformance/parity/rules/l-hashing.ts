import { type Rule, recorded } from '../rule.ts';

export const hashingRules: readonly Rule[] = [
  {
    id: 'L1',
    title: 'FNV-1a, 128 bit',
    broken: [
      {
        file: 'libs/controllers/src/hashing/fnv-1a-128.ts',
        search: '0xc58d]',
        replace: '0xc58e]',
        tests: ['libs/controllers/src/hashing/fnv-1a-128.test.ts', recorded('fnv128a')],
      },
    ],
  },
  {
    id: 'L2',
    title: 'dump of slice ports',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/port-map-key.ts',
        search: 'Protocol:(*v1.Protocol)',
        replace: 'Protocol:(*string)',
        tests: [recorded('portMapKey')],
      },
    ],
  },
  {
    id: 'L3',
    title: 'dump of Endpoints ports',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/subset-dump.ts',
        search: 'Port:(int32)',
        replace: 'Port:(*int32)',
        tests: [recorded('repackSubsets')],
      },
    ],
  },
  {
    id: 'L4',
    title: 'dump of subsets',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/subset-dump.ts',
        search: "'([]v1.EndpointAddress)', subset.notReadyAddresses",
        replace: "'([]EndpointAddress)', subset.notReadyAddresses",
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
        search: '  hashed.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0));\n',
        replace: '',
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
    ],
  },
];
