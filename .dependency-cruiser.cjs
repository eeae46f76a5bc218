/**
 * The arrows of the house. Services share only messages; inside libs they point down:
 * simulation → kubernetes, bus, store → messages → controllers, with runtime (clock, random) below all that need it.
 */
const lib = (name, ...allowed) => ({
  name: `libs-${name}`,
  comment: `libs/${name} may use only: ${allowed.join(', ') || 'nothing of ours'}`,
  severity: 'error',
  from: { path: `^libs/${name}/` },
  to: { path: '^(libs|services|bench|conformance|infra)/', pathNot: `^libs/(${[name, ...allowed].join('|')})/` },
});

const service = (name) => ({
  name: `service-${name}-alone`,
  comment: 'a service never imports another; they share only the messages',
  severity: 'error',
  from: { path: `^services/${name}/` },
  to: { path: '^(services|bench|conformance|infra)/', pathNot: `^services/${name}/` },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    lib('controllers'),
    lib('runtime'),
    lib('comparison'),
    lib('messages', 'controllers'),
    lib('bus', 'messages', 'runtime'),
    lib('bus-jetstream', 'bus', 'runtime'),
    lib('bus-kafka', 'bus', 'runtime'),
    lib('store', 'messages', 'runtime'),
    lib('store-redis', 'store', 'runtime'),
    lib('ownership', 'store', 'messages', 'runtime'),
    lib('kubernetes', 'controllers', 'runtime'),
    lib('telemetry', 'controllers', 'messages', 'runtime'),
    lib('simulation', 'controllers', 'kubernetes', 'runtime'),
    service('watcher'),
    service('reconciler'),
    service('writer'),
    service('console'),
    {
      name: 'services-and-simulation',
      comment: 'the simulation is for tests and the living world; a role never depends on it',
      severity: 'error',
      from: { path: '^services/(watcher|reconciler|writer|console)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^libs/simulation/' },
    },
    {
      name: 'pure-controllers',
      comment: 'decisions are pure: no I/O and no package',
      severity: 'error',
      from: { path: '^libs/controllers/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core', 'npm'] },
    },
    {
      name: 'no-deep-imports',
      comment: 'other packages are used through their index, and the fixtures of the objects by tests',
      severity: 'error',
      from: { path: '^(libs|services)/([^/]+)/' },
      to: { path: '^(libs|services)/[^/]+/src/(?!index\\.ts|testing/fixtures\\.ts)', pathNot: '^$1/$2/' },
    },
    {
      name: 'fixtures-are-for-tests',
      comment: 'what is made up for tests serves nobody else',
      severity: 'error',
      from: { pathNot: '\\.test\\.ts$|/testing/' },
      to: { path: '/testing/fixtures\\.ts$' },
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
