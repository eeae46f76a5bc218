import type { Rule } from '../rule.ts';

export const eventRules: readonly Rule[] = [
  {
    id: 'J',
    title: 'types, reasons, texts',
    broken: [
      {
        file: 'libs/controllers/src/failures/failure-events.ts',
        search: 'Failed to update endpoint ',
        replace: 'Failed to update endpoints ',
        tests: [{ file: 'libs/controllers/src/failures/failure-events.test.ts', title: 'endpointsFailure' }],
      },
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: 'Topology Aware Hints has been enabled',
        replace: 'Topology Aware Hints have been enabled',
        tests: [
          {
            file: 'libs/controllers/src/endpointslice/reconcile-endpointslices.test.ts',
            title: 'hints > by topology are set and announced once',
          },
        ],
      },
      {
        file: 'libs/controllers/src/endpointslicemirroring/reconcile-mirroring.ts',
        search: "'TooManyAddressesToMirror'",
        replace: "'TooManyAddresses'",
        tests: [
          {
            file: 'libs/controllers/src/endpointslicemirroring/reconcile-mirroring.test.ts',
            title: 'limits (H11, H17)',
          },
        ],
      },
    ],
  },
  {
    id: 'J1',
    title: 'namespace of FailedToCreateEndpoint',
    broken: [
      {
        file: 'libs/controllers/src/failures/failure-events.ts',
        search: "regarding: { kind: 'Endpoints', namespace: '', name },",
        replace: "regarding: { kind: 'Endpoints', namespace, name },",
        tests: ['libs/controllers/src/failures/failure-events.test.ts'],
      },
    ],
  },
  {
    id: 'J2',
    title: 'reasons never used',
    broken: [
      {
        file: 'services/writer/src/partition/failure-events.ts',
        search: "    case 'endpointslicemirroring':\n      return [];",
        replace:
          "    case 'endpointslicemirroring':\n      return [{ type: 'Warning', reason: 'FailedToUpdateEndpointSlices', message: '', regarding: { kind: 'Endpoints', namespace, name } }];",
        tests: ['services/writer/src/partition/plan-partition-worker.test.ts'],
      },
    ],
  },
  {
    id: 'J3',
    title: 'order',
    note: 'IPv4 first',
    differs: true,
    broken: [
      {
        file: 'services/writer/src/partition/plan-partition-worker.ts',
        search: '[...plan.events, ...failureEvents(plan, result)]',
        replace: '[...failureEvents(plan, result), ...plan.events]',
        tests: ['services/writer/src/partition/plan-partition-worker.test.ts'],
      },
    ],
  },
  {
    id: 'J4',
    title: 'aggregation and limits',
    broken: [
      {
        file: 'libs/kubernetes/src/event-correlator.ts',
        search: 'const burst = 25;',
        replace: 'const burst = 26;',
        tests: ['libs/kubernetes/src/event-correlator.test.ts'],
      },
      {
        file: 'libs/kubernetes/src/event-correlator.ts',
        search: 'const maxSimilarMessages = 10;',
        replace: 'const maxSimilarMessages = 11;',
        tests: ['libs/kubernetes/src/event-correlator.test.ts'],
      },
    ],
  },
  {
    id: 'J5',
    title: 'logged, too',
    broken: [
      {
        file: 'libs/kubernetes/src/event-recorder.ts',
        search: "component === endpointController ? 'debug' : 'info'",
        replace: "'info'",
        tests: ['libs/kubernetes/src/event-recorder.test.ts'],
      },
      {
        file: 'libs/kubernetes/src/event-recorder.ts',
        search: '    this.#log(event, component);\n',
        replace: '',
        tests: ['libs/kubernetes/src/event-recorder.test.ts'],
      },
    ],
  },
];
