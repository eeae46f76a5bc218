import { type Rule, recorded } from '../rule.ts';

export const trafficDistributionRules: readonly Rule[] = [
  {
    id: 'G1',
    title: 'when',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/slice-hints.ts',
        search: "['PreferClose', 'PreferSameZone', 'PreferSameNode']",
        replace: "['PreferClose', 'PreferSameZone', 'PreferSameNode', 'preferClose', 'Auto', '']",
        tests: [recorded('trafficDist')],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: 'if (hintsEnabled(service.annotations)) return',
        replace: 'if (service.trafficDistribution === null && hintsEnabled(service.annotations)) return',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'G2',
    title: 'which hints',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/slice-hints.ts',
        search: "const node = wantsNode ? (endpoint.nodeName ?? '') : '';",
        replace: "const node = endpoint.nodeName ?? '';",
        tests: [recorded('trafficDist')],
      },
      {
        file: 'libs/controllers/src/endpointslice/slice-hints.ts',
        search: "if (zone === '' && node === '') return null;",
        replace: '',
        tests: [recorded('trafficDist')],
      },
    ],
  },
  {
    id: 'G3',
    title: 'when a slice is rewritten',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/slice-hints.ts',
        search: 'hints.length === 1 && hints[0]?.name === name',
        replace: 'hints[0]?.name === name',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'G4',
    title: 'no safeguards',
    note: 'no Events',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/slice-hints.ts',
        search: "if (zone === '' && node === '') return null;",
        replace: "if (node === '') return null;",
        tests: [recorded('trafficDist')],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: '...disableHints(type, hints) }',
        replace:
          '...addHints(lists, type, inputs.topology, hints), lists: trafficDistributionHints(service.trafficDistribution, lists) }',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'G5',
    title: 'older releases',
    note: 'as since 1.33: an unset value removes hints',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/slice-hints.ts',
        search: 'if (!isValidTrafficDistribution(trafficDistribution)) return removeHintsFromSlices(lists);',
        replace: 'if (!isValidTrafficDistribution(trafficDistribution)) return lists;',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
];
