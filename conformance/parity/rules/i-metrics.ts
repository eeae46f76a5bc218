import type { Rule } from '../rule.ts';

const table = { file: 'libs/telemetry/src/upstream-metrics.test.ts', title: 'are those of upstream' };
const shared = 'libs/controllers/src/controller-metrics.ts';
const slices = 'libs/controllers/src/endpointslice/metrics.ts';
const mirroring = 'libs/controllers/src/endpointslicemirroring/metrics.ts';
const gauges = 'services/reconciler/src/slice-gauges.ts';
const queue = 'services/reconciler/src/work-queue.ts';
const queueTest = 'services/reconciler/src/work-queue.test.ts';
const recording = 'services/reconciler/src/reconciler-metrics.ts';
const decisionsTest = 'libs/controllers/src/endpointslice/controller.test.ts';
const pipelineTest = 'tests/metrics.test.ts';

export const metricsRules: readonly Rule[] = [
  {
    id: 'I',
    title: 'names, types, labels, buckets',
    broken: [
      {
        file: shared,
        search: 'doublingBuckets(2, 15)',
        replace: 'doublingBuckets(1, 15)',
        tests: [table],
      },
      {
        file: slices,
        search: "['identity', 'topology', 'traffic_distribution']",
        replace: "['identity', 'topology']",
        tests: [table],
      },
      {
        file: mirroring,
        search: 'doublingBuckets(0.001, 15)',
        replace: 'doublingBuckets(2, 15)',
        tests: [table],
      },
      {
        file: shared,
        search: 'num_endpoint_slices:',
        replace: 'endpoint_slices:',
        tests: [table],
      },
    ],
  },
  {
    id: 'I1',
    title: 'gauges',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search: 'desiredSlices += totals.desiredSlices;',
        replace: 'desiredSlices = totals.desiredSlices;',
        tests: [decisionsTest],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: 'Math.max(1, desiredSlices)',
        replace: 'desiredSlices',
        tests: [decisionsTest],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: 'slices.length + changes.toCreate.length - changes.toDelete.length',
        replace: 'slices.length + changes.toCreate.length',
        tests: [decisionsTest],
      },
      {
        file: 'libs/controllers/src/endpointslicemirroring/metrics.ts',
        search: 'slices: groups.size,',
        replace: 'slices: existing.size,',
        tests: ['libs/controllers/src/endpointslicemirroring/metrics.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslicemirroring/metrics.ts',
        search: 'Math.ceil(group.endpoints.size / max)',
        replace: 'group.endpoints.size',
        tests: ['libs/controllers/src/endpointslicemirroring/metrics.test.ts'],
      },
      {
        file: gauges,
        search: 'if (before !== null) add(sums, before, -1);',
        replace: '',
        tests: [pipelineTest],
      },
      {
        file: recording,
        search: 'this.#count(key, controller, counts?.service ?? null);',
        replace: 'if (counts !== null) this.#count(key, controller, counts.service);',
        tests: [pipelineTest],
      },
      {
        file: recording,
        search: 'for (const key of [...counted.keys()]) this.#count(key, controller, null);',
        replace: '',
        tests: ['tests/metrics-takeover.test.ts'],
      },
    ],
  },
  {
    id: 'I2',
    title: 'traffic distribution',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search: "if (hintsEnabled(annotations)) return { topology: 'Auto', trafficDistribution: '' };",
        replace: '',
        tests: [decisionsTest],
      },
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search: "valid ? trafficDistribution : ''",
        replace: "trafficDistribution ?? ''",
        tests: [decisionsTest],
      },
      {
        file: gauges,
        search: "  if (value === '') return;\n",
        replace: '',
        tests: [pipelineTest],
      },
      {
        file: gauges,
        search: 'for (const [value, services] of byTrafficDistribution)\n',
        replace: 'for (const [value, services] of byTrafficDistribution) if (services > 0)\n',
        tests: [pipelineTest],
      },
    ],
  },
  {
    id: 'I3',
    title: 'mirrored changes',
    broken: [
      {
        file: mirroring,
        search: '      if (counted === null) return;\n',
        replace: '',
        tests: [pipelineTest],
      },
    ],
  },
  {
    id: 'I4',
    title: 'Endpoints have none but those of the work queue',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: "queue: 'endpoint'",
        replace: "queue: 'endpoints'",
        tests: [queueTest],
      },
      {
        file: queue,
        search: 'if (this.#addedAt.has(key)) return;',
        replace: '',
        tests: [queueTest],
      },
      {
        file: recording,
        search: 'this.#share(controller).queue.add(key);',
        replace: '',
        tests: [pipelineTest],
      },
    ],
  },
];
