import type { Rule } from '../rule.ts';

export const metricsRules: readonly Rule[] = [
  {
    id: 'I1',
    title: 'gauges',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: 'desiredSlices: Math.max(1, desiredSlices)',
        replace: 'desiredSlices',
        tests: ['libs/controllers/src/endpointslice/count-decisions.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/count-decisions.ts',
        search: 'endpoints += totals.endpoints;',
        replace: 'endpoints = totals.endpoints;',
        tests: ['libs/controllers/src/endpointslice/count-decisions.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslicemirroring/count-mirroring.ts',
        search: 'Math.ceil(group.endpoints.size / max)',
        replace: 'group.endpoints.size',
        tests: ['libs/controllers/src/endpointslicemirroring/count-mirroring.test.ts'],
      },
    ],
  },
  {
    id: 'I2',
    title: 'traffic distribution',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/count-decisions.ts',
        search: "if (hintsEnabled(annotations)) return { topology: 'Auto', trafficDistribution: '' };",
        replace: '',
        tests: ['libs/controllers/src/endpointslice/count-decisions.test.ts'],
      },
      {
        file: 'libs/telemetry/src/slice-gauges.ts',
        search: 'if (before !== null) add(sums, before, -1);',
        replace: '',
        tests: ['tests/metrics.test.ts'],
      },
    ],
  },
  {
    id: 'I3',
    title: 'mirrored changes',
    broken: [
      {
        file: 'services/reconciler/src/reconciler-metrics.ts',
        search: 'if (counted === null) return;',
        replace: '',
        tests: ['tests/metrics.test.ts'],
      },
    ],
  },
  {
    id: 'I4',
    title: 'Endpoints have none',
    note: 'but work queues have',
    broken: [
      {
        file: 'libs/telemetry/src/workqueue-metrics.ts',
        search: '    if (this.#addedAt.has(key)) return;\n',
        replace: '',
        tests: ['libs/telemetry/src/workqueue-metrics.test.ts'],
      },
    ],
  },
];
