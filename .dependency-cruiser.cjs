/**
 * The arrows of the house. Services share only messages. Arrows point down:
 *
 *   tests, bench, chaos, conformance → services/sluice (CLI → composition) → services → libs
 *
 * and inside libs: fleet → service-state → messages → controllers → model, with the ports bus and store, their adapters beside them,
 * kubernetes and telemetry below fleet, and platform at the bottom.
 */
const ours = '^(libs|services|fake-apiserver|demo|tests|bench|chaos|conformance|infra)/';

/** A room may use itself and the rooms named; each name is a path from the root, or the name of a library. */
const room = (path, ...allowed) => ({
  name: path.replaceAll('/', '-'),
  comment: `${path} may use only: ${allowed.join(', ') || 'no other package of this repository'}`,
  severity: 'error',
  from: { path: `^${path}/` },
  to: {
    path: ours,
    pathNot: [path, ...allowed.map((name) => (name.includes('/') || roots.has(name) ? name : `libs/${name}`))].map(
      (name) => `^${name}/`,
    ),
  },
});
/** Inside `path`, only `parts` use `parts`; what lies beside them must not. Each is a folder, or several joined by `|`. */
const below = (path, parts) => apart(path, `(?!(${parts})/)`, parts);

/** Inside `path`, `from` must not use `to`. */
const apart = (path, from, to) => ({
  name: `${path.split('/')[1]}-${from.replaceAll(/[^a-z]+/g, '-')}-without-${to.replaceAll(/[^a-z]+/g, '-')}`,
  comment: `inside ${path}, ${from} must not use ${to}`,
  severity: 'error',
  from: { path: `^${path}/(${from})`, pathNot: '(\\.test\\.ts$|/testing/)' },
  to: { path: `^${path}/(${to})` },
});
const roots = new Set(['fake-apiserver', 'demo', 'tests', 'bench', 'chaos', 'conformance']);

/** The same, where tests may use more. */
const testedRoom = (path, allowed, inTests) => {
  const [production, tests] = [room(path, ...allowed), room(path, ...allowed, ...inTests)];
  const test = '(\\.test\\.ts$|/testing/)';
  return [
    { ...production, from: { ...production.from, pathNot: test } },
    { ...tests, name: `${tests.name}-tests`, from: { path: `^${path}/.*${test}` } },
  ];
};

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },

    // Libraries
    room('libs/platform'),
    room('libs/model'),
    room('libs/controllers', 'model'),
    room('libs/messages', 'controllers', 'model', 'platform'),
    room('libs/service-state', 'controllers', 'messages', 'model', 'platform'),
    room('libs/bus', 'platform'),
    room('libs/store', 'platform'),
    room('libs/logical-services', 'controllers', 'messages', 'model', 'service-state'),
    room('libs/recording', 'bus', 'controllers', 'messages', 'model', 'platform', 'service-state'),
    room('libs/kubernetes', 'controllers', 'model', 'platform'),
    room('libs/telemetry', 'controllers', 'messages', 'model', 'platform'),
    ...testedRoom(
      'libs/fleet',
      ['bus', 'controllers', 'kubernetes', 'messages', 'model', 'platform', 'service-state', 'store', 'telemetry'],
      ['fake-apiserver'],
    ),

    // Inside a library, ports do not know their adapters, and what stands lower does not know what stands above it.
    below('libs/platform/src', 'process|archive'),
    below('libs/bus/src', 'jetstream|kafka'),
    apart('libs/bus/src', 'jetstream', 'kafka'),
    below('libs/store/src', 'redis'),
    below('libs/kubernetes/src', 'preflight'),
    apart('libs/kubernetes/src', 'protobuf', '(?!protobuf/)'),
    apart(
      'libs/fleet/src',
      'configuration',
      'clusters|identity|infrastructure|leader-election|migration|ownership|roles',
    ),
    apart(
      'libs/fleet/src',
      'ownership',
      'clusters|configuration|identity|infrastructure|leader-election|migration|roles',
    ),
    apart('libs/fleet/src', 'roles|infrastructure', 'clusters|identity|leader-election|migration'),
    apart('libs/fleet/src', 'clusters|identity|leader-election|migration', 'infrastructure|roles'),

    // Services never import each other.
    ...testedRoom(
      'services/watcher',
      ['bus', 'controllers', 'kubernetes', 'messages', 'model', 'platform', 'store', 'telemetry'],
      ['fake-apiserver'],
    ),
    ...testedRoom(
      'services/reconciler',
      ['bus', 'controllers', 'messages', 'model', 'platform', 'service-state', 'store', 'telemetry'],
      ['fake-apiserver'],
    ),
    ...testedRoom(
      'services/writer',
      ['bus', 'controllers', 'kubernetes', 'messages', 'model', 'platform', 'store', 'telemetry'],
      ['fake-apiserver'],
    ),
    room(
      'services/console',
      ...[
        'bus',
        'controllers',
        'fleet',
        'kubernetes',
        'logical-services',
        'messages',
        'model',
        'platform',
        'recording',
        'service-state',
        'store',
      ],
    ),
    room(
      'services/shadow',
      ...['bus', 'controllers', 'kubernetes', 'messages', 'model', 'platform', 'service-state', 'store', 'telemetry'],
    ),
    room('services/capacity'),

    // The program: the command line above, the composition of processes below.
    {
      name: 'services-sluice',
      comment: 'the program may use services and libraries, and the demo and infra/local for --distributed',
      severity: 'error',
      from: { path: '^services/sluice/' },
      to: { path: '^(tests|bench|chaos|conformance|infra/(?!local/))' },
    },
    {
      name: 'composition-below-cli',
      comment: 'the composition of processes knows nothing of the command line',
      severity: 'error',
      from: { path: '^services/sluice/src/composition/' },
      to: { path: '^services/sluice/src/cli/' },
    },
    {
      name: 'commands-on-top',
      comment: 'what a command calls knows no command',
      severity: 'error',
      from: { path: '^services/sluice/src/cli/[^/]+/', pathNot: '(^services/sluice/src/cli/commands/|\\.test\\.ts$)' },
      to: { path: '^services/sluice/src/cli/commands/' },
    },
    {
      name: 'production-without-test-code',
      comment:
        'production code never imports what only tests use, nor the fake API server, except for the demo and the objects of a recording',
      severity: 'error',
      from: {
        path: '^(libs|services)/',
        pathNot:
          '(\\.test\\.ts$|/testing/|^services/sluice/src/(cli/commands/(demo-commands|one-cluster|run-distributed|run-options|simulated-clusters)|composition/recorded-api-servers)\\.ts$)',
      },
      to: { path: '(/testing/|^(tests|fake-apiserver|demo)/)' },
    },
    {
      name: 'pure-decisions',
      comment: 'decisions are pure: no I/O and no package; zod checks stored states',
      severity: 'error',
      from: {
        path: '^libs/(model|controllers|service-state|logical-services)/',
        pathNot: '(\\.test\\.ts$|/testing/|/(load-state|stored-schemas)\\.ts$)',
      },
      to: { dependencyTypes: ['core', 'npm'] },
    },
    {
      name: 'pure-decisions-without-process',
      comment: 'decisions use pure functions of the platform, not what talks to the system',
      severity: 'error',
      from: { path: '^libs/(model|controllers|service-state|logical-services)/' },
      to: { path: '^libs/platform/src/(process|archive)/' },
    },

    // Test packages
    room('fake-apiserver', 'controllers', 'kubernetes', 'model', 'platform'),
    room(
      'demo',
      ...['bus', 'fake-apiserver', 'fleet', 'infra/local', 'kubernetes', 'messages', 'model', 'platform', 'store'],
    ),
    {
      name: 'tests',
      comment: 'whole-fleet tests may use everything but bench and chaos',
      severity: 'error',
      from: { path: '^tests/' },
      to: { path: '^(bench|chaos)/' },
    },
    {
      name: 'simulation',
      comment:
        'the simulation may use libraries, the production code of each role, the fake API server and the harness; its doubles run the contracts, and its rooms replay the vectors of upstream',
      severity: 'error',
      from: {
        path: '^tests/simulation/',
        pathNot: '^tests/simulation/(doubles/contracts\\.test|models/decisions-check)\\.ts$',
      },
      to: { path: '^(services/shadow|demo|conformance|tests/(?!simulation/|harness/))' },
    },
    {
      name: 'simulation-reference',
      comment: 'the recomputation shares no code with the pipeline',
      severity: 'error',
      from: { path: '^tests/simulation/reference/' },
      to: { path: ours, pathNot: '^(tests/simulation/reference|fake-apiserver)/' },
    },
    {
      name: 'harness-below-simulation',
      comment: 'other suites run the simulation, if at all, by its command',
      severity: 'error',
      from: { path: '^tests/(?!simulation/)' },
      to: { path: '^tests/simulation/' },
    },
    {
      name: 'conformance',
      comment: 'conformance may use services and libraries',
      severity: 'error',
      from: { path: '^conformance/' },
      to: { path: '^(bench|chaos|tests)/' },
    },

    {
      name: 'no-deep-imports',
      comment: 'other packages are used through their index, or through their entry for tests',
      severity: 'error',
      from: { path: '^((?:libs|services)/[^/]+|fake-apiserver|demo)/' },
      to: {
        path: '^((libs|services)/[^/]+|fake-apiserver|demo)/src/(?!(client/|terminal/|distributed/|load/|archive/|process/|configuration/|configuration/load/|jetstream/|kafka/|redis/|protobuf/|preflight/|clusters/|ownership/|roles/|roles/lease-thread/|problems/|terms/)?index\\.ts|((configuration|jetstream|redis|protobuf)/)?testing/)',
        pathNot: '^$1/',
      },
    },
    {
      name: 'no-deep-imports-from-tests-and-tools',
      comment: 'other packages are imported through their index, or through their entry for tests',
      severity: 'error',
      from: { path: '^(tests|bench|chaos|conformance|infra)/' },
      to: {
        path: '^(libs|services|fake-apiserver|demo|tests|bench|chaos|conformance|infra/(local|program))/',
        pathNot: '^$1/|/index\\.ts$|/testing/|^conformance/contracts\\.ts$|^services/sluice/src/main\\.ts$',
      },
    },
    {
      name: 'kafkajs-internals',
      comment: 'one file uses kafkajs beneath its public API, and its tests guard what it relies on (ADR 0014)',
      severity: 'error',
      from: { pathNot: '^libs/bus/src/kafka/kafkajs-internals\\.ts$|node_modules' },
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
