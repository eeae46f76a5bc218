import { type Rule, recorded } from '../rule.ts';

export const settingsRules: readonly Rule[] = [
  {
    id: 'A1',
    title: 'one identity per controller',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: "client: 'endpoint-controller'",
        replace: "client: 'endpointslice-controller'",
        tests: ['libs/controllers/src/registry.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search: "component: 'endpoint-slice-controller'",
        replace: "component: 'endpointslice-controller'",
        tests: ['libs/controllers/src/registry.test.ts'],
      },
    ],
  },
  {
    id: 'A2',
    title: 'names of the controllers',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: "flags: ['endpoints-controller', 'endpoint'],",
        replace: "flags: ['endpoints-controller'],",
        tests: ['libs/fleet/src/configuration/options/settings-options.test.ts'],
      },
    ],
  },
  {
    id: 'A3',
    title: 'discovery.k8s.io/v1',
    broken: [
      {
        file: 'libs/kubernetes/src/resources.ts',
        search: "path: '/apis/discovery.k8s.io/v1'",
        replace: "path: '/apis/discovery.k8s.io/v1beta1'",
        tests: ['libs/kubernetes/src/http-cluster.test.ts'],
      },
    ],
  },
  {
    id: 'A4',
    title: 'inputs of each controller',
    broken: [
      {
        file: 'libs/service-state/src/reconcile.ts',
        search: 'maxEndpointsPerSlice: settings.maxEndpointsPerSlice,',
        replace: 'maxEndpointsPerSlice: 100,',
        tests: ['libs/service-state/src/decide.test.ts'],
      },
      {
        file: 'libs/controllers/src/registry.ts',
        search: '[endpointsController, endpointSlicesController, mirroringController]',
        replace: '[endpointsController, endpointSlicesController]',
        tests: [{ file: 'libs/service-state/src/apply-change.test.ts', title: 'makes every controller decide' }],
      },
    ],
  },
  {
    id: 'A5',
    title: 'settings with their ranges',
    differs: true,
    broken: [
      {
        file: 'libs/fleet/src/configuration/settings.ts',
        search: 'const upTo1000 = integer(1, 1000);',
        replace: 'const upTo1000 = integer(0, 1000);',
        tests: ['libs/fleet/src/configuration/options/settings-options.test.ts'],
      },
      {
        file: 'libs/service-state/src/settings.ts',
        search: 'maxEndpointsPerSlice: 100,',
        replace: 'maxEndpointsPerSlice: 1000,',
        tests: ['libs/fleet/src/configuration/options/settings-options.test.ts'],
      },
    ],
  },
  {
    id: 'A6',
    title: 'limit of requests',
    differs: true,
    broken: [
      {
        file: 'services/writer/src/scheduling/adaptive-limit.ts',
        search: 'return this.#inFlight < max && this.#pauseMs() <= 0;',
        replace: 'return this.#pauseMs() <= 0;',
        tests: ['services/writer/src/scheduling/adaptive-limit.test.ts'],
      },
    ],
  },
  {
    id: 'A7',
    title: 'resync every 12 to 24 hours',
    differs: true,
    broken: [
      {
        file: 'services/watcher/src/watch-session.ts',
        search: 'resyncPeriodMs * (1 + random.next())',
        replace: 'resyncPeriodMs * (0.5 + random.next() / 2)',
        tests: ['services/watcher/src/cluster-watcher.test.ts'],
      },
      {
        file: 'services/watcher/src/watch-session.ts',
        search: 'resyncPeriodMs = 12 * 3_600_000',
        replace: 'resyncPeriodMs = 24 * 3_600_000',
        tests: ['services/watcher/src/cluster-watcher.test.ts'],
      },
    ],
  },
  {
    id: 'A8',
    title: 'managedFields are dropped',
    broken: [
      {
        file: 'libs/model/src/projections/written-objects.ts',
        search: "key !== 'managedFields' && raw[key]",
        replace: 'raw[key]',
        tests: ['libs/model/src/projections/projections.test.ts'],
      },
    ],
  },
  {
    id: 'A9',
    title: 'nothing before the caches are synced',
    broken: [
      {
        file: 'services/watcher/src/informer.ts',
        search: 'if (this.#unlisted.size === 0) onSynced();',
        replace: 'if (this.#unlisted.size === 1) onSynced();',
        tests: ['services/watcher/src/cluster-watcher.test.ts'],
      },
      {
        file: 'libs/service-state/src/due.ts',
        search: 'return complete && open === null &&',
        replace: 'return open === null &&',
        tests: ['libs/service-state/src/decide.test.ts'],
      },
    ],
  },
  {
    id: 'A10',
    title: 'workers start again after a failure',
    broken: [
      {
        file: 'libs/platform/src/run-with-backoff.ts',
        search: 'if (isFatal(error)) throw error;',
        replace: 'throw error;',
        tests: ['tests/crash.test.ts'],
      },
    ],
  },
  {
    id: 'A11',
    title: 'feature gates: all on',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/slice-hints.ts',
        search: "['PreferClose', 'PreferSameZone', 'PreferSameNode']",
        replace: "['PreferClose']",
        tests: [recorded('trafficDist')],
      },
      {
        file: 'libs/controllers/src/endpointslice/reconcile-by-address-type.ts',
        search: 'if (hintsEnabled(service.annotations)) return',
        replace: 'if (hintsEnabled({})) return',
        tests: [
          {
            file: 'libs/controllers/src/endpointslice/controller.test.ts',
            title: 'hints > by topology are set and announced once',
          },
        ],
      },
    ],
  },
  {
    id: 'A12',
    title: 'permissions',
    broken: [
      {
        file: 'libs/kubernetes/src/preflight/permissions.ts',
        search: "(['get', 'create', 'update', 'delete'] as const)",
        replace: "(['get', 'create', 'update'] as const)",
        tests: ['libs/kubernetes/src/preflight/check-connection.test.ts'],
      },
    ],
  },
  {
    id: 'A13',
    title: 'the Endpoints API is deprecated',
    note: 'its warnings change nothing',
    broken: [
      {
        file: 'libs/kubernetes/src/connection.ts',
        search: 'if (response.status >= 300) throw',
        replace: "if (response.status >= 300 || 'warning' in response.headers) throw",
        tests: ['libs/kubernetes/src/http-cluster.test.ts'],
      },
    ],
  },
];
