import { type Rule, recorded } from '../rule.ts';

const slicesTest = 'libs/controllers/src/endpointslice/controller.test.ts';
const mirroringTest = 'libs/controllers/src/endpointslicemirroring/controller.test.ts';
const writerTest = 'services/writer/src/partition/plan-partition-worker.test.ts';
const correlator = 'libs/kubernetes/src/event-correlator.ts';
const correlatorTest = 'libs/kubernetes/src/event-correlator.test.ts';
const recorder = 'libs/kubernetes/src/event-recorder.ts';
const recorderTest = 'libs/kubernetes/src/event-recorder.test.ts';

export const eventRules: readonly Rule[] = [
  {
    id: 'J',
    title: 'types, reasons, texts',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: "type: 'Normal', reason",
        replace: "type: 'Warning', reason",
        tests: [recorded('topologyHints'), { file: slicesTest, title: 'by topology are set and announced once' }],
      },
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: 'One or more endpoints do not have a zone specified',
        replace: 'An endpoint has no zone',
        tests: [recorded('topologyHints')],
      },
      {
        file: 'libs/controllers/src/endpointslice/topology-hints.ts',
        search: 'Insufficient number of endpoints',
        replace: 'Too few endpoints',
        tests: [recorded('topologyHints'), { file: slicesTest, title: 'withheld with a warning' }],
      },
      {
        file: 'libs/controllers/src/endpointslice/slice-hints.ts',
        search: "disabled('Topology Aware Hints has been disabled', type)",
        replace: "disabled('No longer requested', type)",
        tests: [{ file: slicesTest, title: 'by topology are removed when the Service stops asking' }],
      },
      {
        file: 'libs/controllers/src/failure-events.ts',
        search: "reason: 'FailedToUpdateEndpointSlices',",
        replace: "reason: 'FailedToUpdateEndpointSlice',",
        tests: [{ file: writerTest, title: 'of the plan are recorded whatever its outcome' }],
      },
      {
        file: 'libs/controllers/src/failure-events.ts',
        search: 'Failed to update endpoint ',
        replace: 'Failed to update endpoints ',
        tests: [{ file: 'libs/controllers/src/failure-events.test.ts', title: 'endpointsFailure' }],
      },
      {
        file: 'libs/controllers/src/endpointslicemirroring/controller.ts',
        search: "warning('InvalidIPAddress',",
        replace: "warning('InvalidAddress',",
        tests: [{ file: mirroringTest, title: 'reports no maximum if only invalid addresses are skipped' }],
      },
      {
        file: 'libs/controllers/src/endpointslicemirroring/controller.ts',
        search: "warning('TooManyAddressesToMirror', message)",
        replace: "warning('TooManyAddresses', message)",
        tests: [{ file: mirroringTest, title: 'mirrors ready addresses first' }],
      },
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: "reasons: ['FailedToCreateEndpoint', 'FailedToUpdateEndpoint'],",
        replace: 'reasons: [],',
        tests: [
          {
            file: 'libs/controllers/src/registry.test.ts',
            title: 'reports Events as endpoint-controller (A1)',
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
        file: 'libs/controllers/src/failure-events.ts',
        search: "namespace: '', name }",
        replace: 'namespace, name }',
        tests: ['libs/controllers/src/failure-events.test.ts'],
      },
      {
        file: 'libs/kubernetes/src/event-object.ts',
        search: "event.regarding.namespace || 'default'",
        replace: 'event.regarding.namespace',
        tests: [recorderTest],
      },
    ],
  },
  {
    id: 'J2',
    title: 'reasons never used',
    broken: [
      {
        file: 'libs/controllers/src/endpointslicemirroring/controller.ts',
        search: '    failureText,\n',
        replace:
          "    failureText,\n    failed: ({ service }) => [{ type: 'Warning', reason: 'F', message: '', regarding: { kind: 'Service', ...service } }],\n",
        tests: [writerTest],
      },
    ],
  },
  {
    id: 'J3',
    title: 'order',
    differs: true,
    broken: [
      {
        file: 'services/writer/src/partition/plan-partition-worker.ts',
        search: '[...plan.events, ...failureEvents(plan, result)]',
        replace: '[...failureEvents(plan, result), ...plan.events]',
        tests: [writerTest],
      },
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search: 'for (const type of types) {',
        replace: 'for (const type of [...types].sort()) {',
        tests: [slicesTest],
      },
    ],
  },
  {
    id: 'J4',
    title: 'aggregation and limits',
    broken: [
      {
        file: correlator,
        search: 'const maxSimilarMessages = 10;',
        replace: 'const maxSimilarMessages = 11;',
        tests: [correlatorTest],
      },
      {
        file: correlator,
        search: 'const similarIntervalMs = 600_000;',
        replace: 'const similarIntervalMs = 6_000_000;',
        tests: [correlatorTest],
      },
      {
        file: correlator,
        search: 'const burst = 25;',
        replace: 'const burst = 26;',
        tests: [correlatorTest],
      },
      {
        file: correlator,
        search: 'const perSecond = 1 / 300;',
        replace: 'const perSecond = 1 / 299;',
        tests: [correlatorTest],
      },
      {
        file: recorder,
        search: 'const maxAttempts = 12;',
        replace: 'const maxAttempts = 11;',
        tests: [recorderTest],
      },
    ],
  },
  {
    id: 'J5',
    title: 'logged, too',
    broken: [
      {
        file: recorder,
        search: "component === endpointController ? 'debug' : 'info'",
        replace: "'info'",
        tests: [recorderTest],
      },
      {
        file: recorder,
        search: 'this.#log(event, component);',
        replace: '',
        tests: [recorderTest],
      },
    ],
  },
];
