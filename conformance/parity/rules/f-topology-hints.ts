import { type Rule, recorded } from '../rule.ts';

export const topologyHintRules: readonly Rule[] = [
  {
    id: 'F1',
    title: 'annotation',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/slice-hints.ts',
        search: 'annotations[topologyAwareHintsAnnotation] ?? annotations[topologyModeAnnotation]',
        replace: 'annotations[topologyModeAnnotation] ?? annotations[topologyAwareHintsAnnotation]',
        tests: [recorded('hintsEnabled')],
      },
    ],
  },
  {
    id: 'F2',
    title: 'Node data',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/trackers/topology-cache.ts',
        search: 'if (node.controlPlane || !node.ready) continue;',
        replace: 'if (!node.ready) continue;',
        tests: ['libs/controllers/src/trackers/topology-cache.test.ts', recorded('topologyHints')],
      },
      {
        file: 'libs/controllers/src/trackers/topology-cache.ts',
        search: "if (node.zone === '' || node.allocatableMilliCpu === 0) sufficient = false;",
        replace: '',
        tests: ['libs/controllers/src/trackers/topology-cache.test.ts'],
      },
    ],
  },
  {
    id: 'F3',
    title: 'allocation',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: 'maximum: minimum + spare',
        replace: 'maximum: endpoints',
        tests: [recorded('topologyHints')],
      },
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: 'desired: Math.max(share, minimum)',
        replace: 'desired: share',
        tests: [recorded('topologyHints')],
      },
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: 'Math.ceil(share * minLoadShare)',
        replace: 'Math.floor(share * minLoadShare)',
        tests: [recorded('topologyHints')],
      },
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: 'ratios.length > endpoints',
        replace: 'ratios.length > endpoints + 1',
        tests: [recorded('topologyHints')],
      },
    ],
  },
  {
    id: 'F4',
    title: 'failure',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: '    events: [disabled(why, type)],\n',
        replace: '    events: [],\n',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts', recorded('topologyHints')],
      },
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: '    hints: removeHints(known, type),\n    events: [disabled',
        replace: '    hints: known,\n    events: [disabled',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'F5',
    title: 'hints that stand',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: 'if (zones.length === 0) return null;',
        replace: '',
        tests: [recorded('topologyHints')],
      },
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: '> (allocations.get(zone)?.maximum ?? 0)',
        replace: '> Number.POSITIVE_INFINITY',
        tests: [recorded('topologyHints')],
      },
    ],
  },
  {
    id: 'F6',
    title: 'own zone first',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: "if (zone === '') return withoutAny('One or more endpoints do not have a zone specified', separated);",
        replace: "if (zone === '') continue;",
        tests: [recorded('topologyHints')],
      },
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: '  if (!isReady(endpoint)) return endpoint;\n  const own',
        replace: '  const own',
        tests: [recorded('topologyHints')],
      },
    ],
  },
  {
    id: 'F7',
    title: 'giving and receiving',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: ' || from.amount < 0.5 || to.amount < 0.5',
        replace: '',
        tests: [recorded('topologyHints')],
      },
    ],
  },
  {
    id: 'F8',
    title: 'redistribution',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: '(moves.giving.get(own) ?? 0) > 0 ? firstWithRoom(moves.receiving) : null',
        replace: 'null',
        tests: [recorded('topologyHints')],
      },
    ],
  },
  {
    id: 'F9',
    title: 'Event of success',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: 'events: known?.populated === true ? [] : [enabled(type)],',
        replace: 'events: [enabled(type)],',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'F10',
    title: 'removal',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/slice-hints.ts',
        search: '[...toUpdate, ...hinted].map(withoutHints)',
        replace: 'toUpdate.map(withoutHints)',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'F11',
    title: 'hints disabled',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/slice-hints.ts',
        search: 'const events = known.populated ? [disabled(',
        replace: 'const events = !known.populated ? [disabled(',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'F12',
    title: 'mark per Service',
    broken: [
      {
        file: 'libs/controllers/src/trackers/topology-cache.ts',
        search: '{ populated: false, byAddressType: others }',
        replace: '{ populated: true, byAddressType: others }',
        tests: ['libs/controllers/src/trackers/topology-cache.test.ts'],
      },
    ],
  },
  {
    id: 'F13',
    title: 'one zone per hint',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: '{ forZones: [{ name: receiver }] }',
        replace: '{ forZones: [{ name: own }, { name: receiver }] }',
        tests: [recorded('topologyHints')],
      },
    ],
  },
  {
    id: 'F14',
    title: 'overload',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/trackers/topology-cache.ts',
        search: 'endpoints === undefined || endpoints <',
        replace: '(endpoints ?? total) <',
        tests: ['libs/controllers/src/trackers/topology-cache.test.ts'],
      },
      {
        file: 'libs/controllers/src/trackers/topology-cache.ts',
        search: 'if (shares.length === 0) return true;',
        replace: 'if (shares.length === 0) return false;',
        tests: ['libs/controllers/src/trackers/topology-cache.test.ts'],
      },
      {
        file: 'libs/controllers/src/trackers/topology-cache.ts',
        search: 'Math.ceil(total * ratio * minLoadShare)',
        replace: 'Math.floor(total * ratio * minLoadShare)',
        tests: [recorded('topologyHints')],
      },
      {
        file: 'libs/service-state/src/policy.ts',
        search: 'fact.topology)) return 0;',
        replace: 'fact.topology)) return maxTopologyDelayMs;',
        tests: ['libs/service-state/src/policy.test.ts'],
      },
    ],
  },
];
