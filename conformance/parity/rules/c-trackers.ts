import { type Rule, recorded } from '../rule.ts';

export const trackerRules: readonly Rule[] = [
  {
    id: 'C15',
    title: 'state of the trigger times',
    broken: [
      {
        file: 'libs/controllers/src/trackers/trigger-time-tracker.ts',
        search: "const created = service.creationTimestamp === '' ? null : service.creationTimestamp;",
        replace: 'const created = null;',
        tests: ['libs/controllers/src/trackers/trigger-time-tracker.test.ts'],
      },
      {
        file: 'libs/model/src/projections/project-pod.ts',
        search: "'lastTransitionTime', 'lastTransitionTime')",
        replace: "'lastProbeTime', 'lastTransitionTime')",
        tests: ['libs/model/src/projections/projections.test.ts'],
      },
    ],
  },
  {
    id: 'C16',
    title: 'earliest change',
    broken: [
      {
        file: 'libs/controllers/src/trackers/trigger-time-tracker.ts',
        search: 'if (known === null) return { state: stateOf(created, pods), triggerTime: created };',
        replace: 'known ??= { service: created, pods: {} };',
        tests: ['libs/controllers/src/trackers/trigger-time-tracker.test.ts'],
      },
      {
        file: 'libs/controllers/src/trackers/trigger-time-tracker.ts',
        search: 'if (before === undefined || isLater(time, before)) earliest',
        replace: 'if (before !== undefined && isLater(time, before)) earliest',
        tests: ['libs/controllers/src/trackers/trigger-time-tracker.test.ts'],
      },
      {
        file: 'libs/controllers/src/trackers/trigger-time-tracker.ts',
        search: 'return a === null || b < a ? b : a;',
        replace: 'return a === null || b > a ? b : a;',
        tests: ['libs/controllers/src/trackers/trigger-time-tracker.test.ts'],
      },
    ],
  },
  {
    id: 'C17',
    title: 'when the state moves',
    differs: true,
    broken: [
      {
        file: 'libs/service-state/src/apply-outcome.ts',
        search: '...trackers, triggers: inFlight.triggersAfter,',
        replace: '...trackers,',
        tests: ['libs/service-state/src/apply-outcome.test.ts'],
      },
      {
        file: 'libs/service-state/src/evolve.ts',
        search: '...idle.trackers, triggers, hints }',
        replace: '...idle.trackers, hints }',
        tests: ['libs/service-state/src/decide.test.ts'],
      },
    ],
  },
  {
    id: 'C18',
    title: 'annotation',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: '[triggerTimeAnnotation, overCapacityAnnotation])',
        replace: '[overCapacityAnnotation])',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'C19',
    title: 'slice tracker',
    differs: true,
    note: 'proves foreign writes and restores',
    broken: [
      {
        file: 'libs/controllers/src/trackers/endpointslice-tracker.ts',
        search: 'return generation === undefined || generationOf(slice) > generation;',
        replace: 'return generation === undefined || generationOf(slice) >= generation;',
        tests: ['libs/controllers/src/trackers/endpointslice-tracker.test.ts'],
      },
      {
        file: 'libs/controllers/src/trackers/endpointslice-tracker.ts',
        search: 'return { state, expected: generation === deletionExpected };',
        replace: 'return { state, expected: true };',
        tests: ['libs/controllers/src/trackers/endpointslice-tracker.test.ts'],
      },
    ],
  },
  {
    id: 'C20',
    title: 'stale',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/trackers/endpointslice-tracker.ts',
        search: 'if (generation === deletionExpected) return true;',
        replace: '',
        tests: ['libs/controllers/src/trackers/endpointslice-tracker.test.ts'],
      },
      {
        file: 'libs/controllers/src/trackers/endpointslice-tracker.ts',
        search: 'if (generation !== deletionExpected && !present.has(uid)) return true;',
        replace: '',
        tests: ['libs/controllers/src/trackers/endpointslice-tracker.test.ts'],
      },
    ],
  },
  {
    id: 'C21',
    title: 'relabelled slices',
    differs: true,
    broken: [
      {
        file: 'libs/service-state/src/apply-fact.ts',
        search: '    state.removeSlice(fact.name);\n',
        replace: '',
        tests: ['libs/service-state/src/decide.test.ts'],
      },
    ],
  },
  {
    id: 'C22',
    title: 'text of the stale error',
    note: 'no such error: nothing waits for a stale cache',
    broken: [
      {
        file: 'libs/service-state/src/policy.ts',
        search: 'isStale: () => false,',
        replace:
          'isStale: (state, controller) => Object.keys(state.controller(controller).trackers.tracked).length > state.slices.size,',
        tests: ['libs/service-state/src/decide.test.ts'],
      },
    ],
  },
  {
    id: 'C23',
    title: 'same endpoint',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/endpoint-identity.ts',
        search: "    (a.hostname ?? '') === (b.hostname ?? '') &&\n",
        replace: '',
        tests: ['libs/controllers/src/endpointslice/endpoint-identity.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/endpoint-identity.ts',
        search: 'const sorted = [...addresses].sort();',
        replace: 'const sorted = [...addresses];',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'C24',
    title: 'equal beyond identity',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/endpoint-identity.ts',
        search: '    (a.zone ?? null) === (b.zone ?? null) &&\n',
        replace: '',
        tests: ['libs/controllers/src/endpointslice/reconcile-by-port-mapping.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/endpoint-identity.ts',
        search: "    (a.uid ?? '') === (b.uid ?? '') &&\n",
        replace: '',
        tests: ['libs/controllers/src/endpointslice/reconcile-by-port-mapping.test.ts'],
      },
    ],
  },
  {
    id: 'C25',
    title: 'port-map key',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/endpoint-identity.ts',
        search: '  hashed.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0));\n',
        replace: '',
        tests: [recorded('portMapKey')],
      },
    ],
  },
];
