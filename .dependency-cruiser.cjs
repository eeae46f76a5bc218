/** Which folder may import which. Arrows point down only; services share nothing but messages. */
const ours = '^(libs|services|fake-apiserver|demo|infra|bench|chaos|conformance)/';

/** A rule that `folder` may import only itself and `allowed`, given as paths without the trailing slash. */
const room = (folder, allowed, more = {}) => ({
  name: `${folder.replace('/', '-')}-imports`,
  comment: `${folder} may import only: ${allowed.join(', ') || 'no other folder of this repository'}`,
  severity: 'error',
  from: { path: `^${folder}/`, ...more },
  to: { path: ours, pathNot: `^(${[folder, ...allowed].join('|')})/` },
});

const lib = (name, ...allowed) =>
  room(
    `libs/${name}`,
    allowed.map((other) => `libs/${other}`),
  );

const service = (name) => ({
  name: `service-${name}-alone`,
  comment: 'a service never imports another; they share only the messages',
  severity: 'error',
  from: { path: `^services/${name}/` },
  to: { path: '^(services|demo|bench|chaos|conformance|infra)/', pathNot: `^services/${name}/` },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    lib('controllers'),
    lib('runtime'),
    lib('comparison'),
    lib('messages', 'controllers'),
    lib('service-state', 'controllers', 'messages'),
    lib('bus', 'messages', 'runtime'),
    lib('bus-jetstream', 'bus', 'runtime'),
    lib('bus-kafka', 'bus', 'runtime'),
    lib('store', 'messages', 'runtime'),
    lib('store-redis', 'store', 'runtime'),
    lib('ownership', 'store', 'messages', 'runtime'),
    lib('kubernetes-protobuf', 'controllers'),
    lib('kubernetes', 'kubernetes-protobuf', 'controllers', 'runtime'),
    lib('preflight', 'kubernetes', 'runtime'),
    lib('telemetry', 'controllers', 'messages', 'runtime'),
    room('fake-apiserver', ['libs/controllers', 'libs/kubernetes', 'libs/kubernetes-protobuf', 'libs/runtime']),
    room('demo', ['fake-apiserver', 'libs/kubernetes', 'libs/runtime']),
    service('watcher'),
    service('reconciler'),
    service('writer'),
    service('console'),
    {
      name: 'no-test-packages-in-production',
      comment:
        'the fake API server is for tests and the demo; only the entry points of the demo and the replay import it',
      severity: 'error',
      from: {
        path: '^(libs|services)/',
        pathNot: [
          '\\.test\\.ts$|/testing/',
          // The demo of `npm start`, and its processes.
          '^services/sluice/src/clusters/simulated\\.ts$',
          '^services/sluice/src/distributed/start-distributed\\.ts$',
          '^services/sluice/src/replay/replay-scenario\\.ts$',
        ],
      },
      to: { path: '^(fake-apiserver|demo|bench|chaos|conformance)/' },
    },
    {
      name: 'pure-decisions',
      comment: 'decisions are pure: no I/O and no package',
      severity: 'error',
      from: { path: '^libs/(controllers|service-state)/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core', 'npm'] },
    },
    {
      name: 'no-deep-imports',
      comment: 'other packages are imported through their index; tests may import the fixtures of objects',
      severity: 'error',
      from: { path: '^((?:libs|services)/[^/]+|fake-apiserver|demo)/' },
      to: {
        path: '^((libs|services)/[^/]+|fake-apiserver|demo)/src/(?!index\\.ts|testing/(fixtures|index)\\.ts)',
        pathNot: '^$1/',
      },
    },
    {
      name: 'fixtures-are-for-tests',
      comment: 'fixtures are imported by tests only',
      severity: 'error',
      from: { pathNot: '\\.test\\.ts$|/testing/' },
      to: { path: '/testing/(fixtures|index)\\.ts$' },
    },
    {
      name: 'kafkajs-internals',
      comment: 'one file uses kafkajs beneath its public API, and its tests guard what it relies on (ADR 0045)',
      severity: 'error',
      from: { pathNot: '^libs/bus-kafka/src/kafkajs-internals\\.ts$|node_modules' },
      to: { path: 'kafkajs/src/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types'],
      extensions: ['.ts', '.js', '.cjs', '.mjs'],
    },
  },
};
