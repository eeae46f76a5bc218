import { type Rule, recorded } from '../rule.ts';

export const subsetRules: readonly Rule[] = [
  {
    id: 'D25',
    title: 'repacking',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/repack-subsets.ts',
        search: 'if (offered.readiness.get(number) !== false) offered',
        replace: 'offered',
        tests: [recorded('repackSubsets'), 'libs/controllers/src/endpoints/repack-subsets.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpoints/repack-subsets.ts',
        search: 'if (a.ip !== b.ip) return a.ip < b.ip ? -1 : 1;',
        replace: 'if (a.ip !== b.ip) return a.ip.length - b.ip.length || (a.ip < b.ip ? -1 : 1);',
        tests: [recorded('repackSubsets')],
      },
      {
        file: 'libs/controllers/src/endpoints/repack-subsets.ts',
        search: "port.appProtocol === null || port.appProtocol === undefined ? '' : source",
        replace: "''",
        tests: ['libs/controllers/src/endpoints/repack-subsets.test.ts'],
      },
    ],
  },
  {
    id: 'D26',
    title: 'same IP twice',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/repack-subsets.ts',
        search: "`${address.ip} ${address.targetRef?.uid ?? ''}`",
        replace: 'address.ip',
        tests: ['libs/controllers/src/endpoints/repack-subsets.test.ts'],
      },
    ],
  },
  {
    id: 'D27',
    title: 'limit of 1000',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: 'endpointsCapacity = 1000',
        replace: 'endpointsCapacity = 1001',
        tests: [recorded('truncateEndpoints'), 'libs/controllers/src/endpoints/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: 'ready > endpointsCapacity ? cutReady(subsets, ready) : ',
        replace: '',
        tests: [recorded('truncateEndpoints')],
      },
    ],
  },
  {
    id: 'D28',
    title: 'shares',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: 'Math.ceil((count / total) * room)',
        replace: 'Math.floor((count / total) * room)',
        tests: [recorded('truncateEndpoints')],
      },
    ],
  },
];
