import { describe, expect, test } from 'vitest';
import { loadConfiguration } from './load-configuration.ts';
import { entry, errorOf, type Given, resolve } from './testing/resolve.ts';

const configurationOf = (given: Given) => resolve(given).configuration;

test('the defaults are an in-memory bus and store and no cluster', () => {
  expect(loadConfiguration({ environment: {}, flags: {} })).toEqual({
    fleet: 'sluice',
    partitions: 16,
    allowPlaintext: false,
    bus: { kind: 'memory' },
    store: { kind: 'memory' },
    clusters: [],
    leases: { ttlMs: 900, heartbeatMs: 250 },
    controllers: {
      enabled: new Set(['endpoints', 'endpointslice', 'endpointslicemirroring']),
      maxEndpointsPerSlice: 100,
      mirroringMaxEndpointsPerSubset: 1000,
      endpointUpdatesBatchPeriod: 0,
      endpointsliceUpdatesBatchPeriod: 0,
      mirroringEndpointsliceUpdatesBatchPeriod: 0,
      freshnessTarget: 0,
      sliceWatchers: 100,
      compactionWritesPerHour: 0,
    },
    watcher: { maxCacheBytes: undefined },
    writer: {
      maxInFlight: 64,
      maxPerSecond: 0,
      maxRetriesPerSecond: 0,
      concurrentEndpointSyncs: 0,
      concurrentServiceEndpointSyncs: 0,
      mirroringConcurrentServiceEndpointSyncs: 0,
      maxRemovalPercent: 25,
      maxAdditionPercent: 25,
      takeOver: false,
      useServiceAccountCredentials: false,
    },
    traces: { endpoint: undefined, ratio: 0.05, slowMs: 1_000 },
    log: { level: 'info', format: 'text' },
    metricsBindAddress: undefined,
    console: {
      bindAddress: undefined,
      hosts: [],
      token: undefined,
      authorizationMode: 'token',
      tls: undefined,
      maxBytes: 128 * 1024 ** 2,
      maxServices: 50_000,
      retentionMs: 86_400_000,
      jaegerUrl: undefined,
      jaegerQueryUrl: undefined,
      lostClusters: { action: 'age-out', maxAgeMs: 600_000 },
      degraded: { afterMs: 60_000, below: 0.5 },
      serviceNameLabel: undefined,
    },
    recording: { directory: undefined, maxBytes: 1024 ** 3, retention: 7 * 86_400_000, webhookUrl: undefined },
  });
});

test.each(['', '# nothing\n', '\n'.repeat(10_000), 'bus:\nstore:\n  # url: redis://h\n'])(
  'an empty file gives the defaults (%#)',
  (file) => {
    expect(configurationOf({ file })).toEqual(configurationOf({}));
  },
);

describe('file < environment < flags', () => {
  const file = 'partitions: 1';
  const environment = { SLUICE_PARTITIONS: '2' };
  const flags = { '--partitions': '3' };

  test.each([
    [{}, 16, { from: 'default' }],
    [{ file }, 1, { from: 'file', file: '/etc/sluice.yaml' }],
    [{ file, environment }, 2, { from: 'environment', variable: 'SLUICE_PARTITIONS' }],
    [{ file, flags }, 3, { from: 'flag', flag: '--partitions' }],
    [{ file, environment, flags }, 3, { from: 'flag', flag: '--partitions' }],
    [{ environment: { SLUICE_PARTITIONS: '' }, file }, 1, { from: 'file', file: '/etc/sluice.yaml' }],
  ])('%j', (given, partitions, origin) => {
    const resolved = resolve(given);
    expect(resolved.configuration.partitions).toBe(partitions);
    expect(entry(resolved, 'partitions')).toEqual({ path: 'partitions', shown: partitions, origin });
  });

  test('a secret and the file that contains it are one setting', () => {
    const files = { '/etc/pw': 'of a file\n', '/run/pw': 'of another' };
    const store = 'store: { url: "redis://h:1", passwordFile: pw }';
    const password = (given: Given) => {
      const found = configurationOf({ files, ...given }).store;
      return found.kind === 'redis' ? found.password : undefined;
    };
    expect(password({ file: store })).toBe('of a file');
    expect(password({ file: store, environment: { SLUICE_STORE_PASSWORD: 'x' } })).toBe('x');
    expect(password({ file: store, environment: { SLUICE_STORE_PASSWORD_FILE: '/run/pw' } })).toBe('of another');
  });

  test('a cluster from flags or variables replaces those of the file', () => {
    const clusters = 'clusters: [{ name: a, kubeconfig: a.yaml }, { name: b, inCluster: true }]';
    expect(configurationOf({ file: clusters }).clusters).toEqual([
      { name: 'a', kubeconfig: '/etc/a.yaml' },
      { name: 'b', inCluster: true },
    ]);
    const flags = { '--context': 'c' };
    const environment = { SLUICE_CLUSTER_KUBECONFIG: 'k' };
    expect(configurationOf({ file: clusters, flags, environment }).clusters).toEqual([
      { name: 'c', kubeconfig: 'k', context: 'c' },
    ]);
    expect(configurationOf({ flags: { '--in-cluster': true } }).clusters).toEqual([{ inCluster: true }]);
  });
});

describe('a source that selects another bus', () => {
  const file = 'bus: { servers: ["nats://a"], username: u, password: p, replicas: 3 }';

  test('discards earlier settings: credentials of one are not sent to the other', () => {
    expect(configurationOf({ file, flags: { '--bus': 'kafka://k:1' } }).bus).toMatchObject({
      kind: 'kafka',
      brokers: ['k:1'],
      replicationFactor: 3,
    });
    expect(configurationOf({ file, flags: { '--bus': 'kafka://k:1' } }).bus).not.toHaveProperty('sasl');
    expect(configurationOf({ file, flags: { '--bus': 'memory' } }).bus).toEqual({ kind: 'memory' });
  });

  test('keeps the settings of the same kind, and those without a kind', () => {
    const environment = { SLUICE_BUS_SERVERS: 'nats://b,nats://c:1' };
    expect(configurationOf({ file, environment }).bus).toMatchObject({
      servers: ['nats://b', 'nats://c:1'],
      credentials: { user: 'u', password: 'p' },
      replicas: 3,
    });
    const token = { SLUICE_BUS_TOKEN: 't' };
    expect(configurationOf({ environment: token, flags: { '--bus': 'nats://a' } }).bus).toMatchObject({
      credentials: { token: 't' },
    });
  });
});

describe('the bus', () => {
  test('NATS, with its defaults', () => {
    expect(configurationOf({ flags: { '--bus': 'nats://a:1,nats://b' } }).bus).toEqual({
      kind: 'nats',
      servers: ['nats://a:1', 'nats://b'],
      replicas: 1,
      duplicateWindowMs: 120_000,
      maxAgeMs: { changes: 86_400_000, mutations: 86_400_000, requests: 3_600_000 },
      maxBytes: { changes: 67_108_864, mutations: 67_108_864, requests: 16_777_216 },
      connectWithinMs: 30_000,
    });
  });

  test.each([
    ['token: t', { token: 't' }],
    ['username: u, password: p', { user: 'u', password: 'p' }],
    ['nkeySeed: SU', { nkeySeed: 'SU' }],
    ['credsFile: my.creds', { creds: 'jwt\nand seed' }],
  ])('NATS authenticates with %s', (way, credentials) => {
    const file = `bus: { servers: "nats://a", ${way} }`;
    expect(configurationOf({ file, files: { '/etc/my.creds': 'jwt\nand seed\n' } }).bus).toMatchObject({ credentials });
  });

  test.each([
    ['servers: "nats://a"', undefined],
    ['servers: "tls://a"', {}],
    ['servers: "nats://a", tls: { enabled: true }', {}],
    ['servers: "nats://a", tls: { caFile: ca }', { ca: 'CA' }],
    ['servers: "nats://a", tls: { caFile: ca, enabled: false }', undefined],
    ['servers: "nats://a", tls: { cert: C, key: K }', { cert: 'C', key: 'K' }],
    ['servers: "kafka://a", tls: { serverName: n }', { servername: 'n' }],
  ])('TLS: %s', (bus, tls) => {
    const found = configurationOf({ file: `bus: { ${bus} }`, files: { '/etc/ca': 'CA' } }).bus;
    expect('tls' in found ? found.tls : undefined).toEqual(tls);
  });

  test('Kafka', () => {
    const file = 'bus: { kind: kafka, servers: [a, "kafka://b:1", "[::1]:2"], username: u, password: p, replicas: 1 }';
    expect(configurationOf({ file }).bus).toEqual({
      kind: 'kafka',
      brokers: ['a:9092', 'b:1', '[::1]:2'],
      sasl: { mechanism: 'scram-sha-512', username: 'u', password: 'p' },
      replicationFactor: 1,
      minInsyncReplicas: 1,
      retentionMs: { changes: 86_400_000, mutations: 86_400_000, requests: 86_400_000 },
      retentionBytes: { changes: 67_108_864, mutations: 67_108_864, requests: 16_777_216 },
      maxMessageBytes: 4_194_304,
      connectWithinMs: 30_000,
    });
  });
});

describe('the store', () => {
  test.each([
    ['url: "redis://u:p%40@h:1/2"', { urls: ['redis://u:p%40@h:1/2'], topology: { mode: 'standalone' } }],
    ['url: ["redis://h:1", "redis://i:1"], mode: cluster', { topology: { mode: 'cluster' } }],
    [
      'url: "rediss://h", mode: sentinel, masterName: m, sentinelPassword: s',
      { topology: { mode: 'sentinel', masterName: 'm', password: 's' } },
    ],
    ['url: "rediss://h", tls: { ca: A, serverName: n }', { tls: { ca: 'A', serverName: 'n' } }],
    [
      'url: "redis://h", username: u, password: p, commandTimeout: 2s',
      { username: 'u', password: 'p', commandTimeoutMs: 2_000 },
    ],
  ])('%s', (store, expected) => {
    expect(configurationOf({ file: `store: { ${store} }` }).store).toMatchObject({ kind: 'redis', ...expected });
  });
});

test('the heartbeat interval derives from the lease unless it is set', () => {
  expect(configurationOf({ flags: { '--lease-ttl': '3s' } }).leases).toEqual({ ttlMs: 3_000, heartbeatMs: 250 });
  expect(configurationOf({ flags: { '--lease-ttl': '300ms' } }).leases).toEqual({ ttlMs: 300, heartbeatMs: 100 });
  expect(configurationOf({ file: 'leases: { ttl: 2s, heartbeat: 50ms }' }).leases).toEqual({
    ttlMs: 2_000,
    heartbeatMs: 50,
  });
});

describe('an invalid configuration is rejected', () => {
  const at = '/etc/sluice.yaml: ';
  test.each([
    ['partitions: many', `${at}partitions is "many"; expected an integer from 1 to 4096`],
    ['partitions: "8"', `${at}partitions is "8"; expected an integer`],
    ['partitions: 0', `${at}partitions is 0; expected`],
    ['partitions:', `${at}partitions is empty; expected`],
    ['fleet: a.b', `${at}fleet is "a.b"; expected 1 to 64 letters`],
    ['flet: a', `${at}flet is not a known setting; did you mean fleet?`],
    ['bus: { sevrers: [] }', `${at}bus.sevrers is not a known setting; did you mean servers?`],
    ['log: { verbosity: 3 }', `${at}log.verbosity is not a known setting; known settings: level, format`],
    ['bus: { maxAge: { change: 1h } }', `${at}bus.maxAge.change is not a known setting; did you mean changes?`],
    ['bus: here', `${at}bus is a string; expected a map of settings`],
    ['[]', `/etc/sluice.yaml is a list; expected a map of settings`],
    ['bus: { servers: ["nats://a", "http://b"] }', `${at}bus.servers[1] is "http://b"; expected nats://`],
    ['bus: { servers: "nats://a,http://b" }', `${at}bus.servers[1] is "http://b"; expected nats://`],
    ['bus: { servers: [] }', `${at}bus.servers is a list; expected`],
    ['bus: { servers: ["nats://a:70000"] }', 'entry 1 has an invalid port'],
    ['bus: { kind: nats }', `${at}bus.kind is nats, but bus.servers is empty`],
    ['bus: { kind: natz, token: t }', `${at}bus.kind is "natz"; expected memory, nats or kafka`],
    [
      'bus: { kind: kafka, servers: "nats://a" }',
      'entry 1 starts with nats://; expected kafka:// because bus.kind is kafka',
    ],
    ['bus: { servers: "a:9092" }', `${at}bus.servers has no scheme; expected nats://, tls:// or kafka://`],
    ['bus: { token: t }', `${at}bus.token applies to nats only, but the bus is memory`],
    ['bus: { servers: "nats://a", mechanism: plain }', `${at}bus.mechanism applies to kafka only, but the bus is nats`],
    ['bus: { servers: "nats://a", replicas: 2 }', `${at}bus.replicas is 2; expected 1, 3 or 5`],
    ['bus: { servers: "nats://a", username: u }', `${at}bus.username is set without bus.password`],
    ['bus: { servers: "nats://a", password: p }', `${at}bus.password is set without bus.username`],
    ['bus: { servers: "nats://a", token: t, creds: c }', 'are mutually exclusive'],
    ['bus: { servers: "nats://a", password: 123 }', `${at}bus.password is a number; expected a non-empty string`],
    ['bus: { servers: "nats://a", token: "***" }', `${at}bus.token is ***, a masked secret; expected`],
    ['bus: { servers: "nats://a", token: a, tokenFile: b }', `${at}bus.token and bus.tokenFile are both set`],
    ['bus: { servers: "nats://a", tokenFile: b }', `${at}bus.tokenFile: the file does not exist`],
    ['bus: { servers: "nats://a", tokenFile: empty }', `${at}bus.tokenFile: the file is empty`],
    ['bus: { servers: "nats://a", tls: { key: k } }', `${at}bus.tls.key is set without bus.tls.cert`],
    [
      'bus: { servers: "tls://a", tls: { enabled: false } }',
      'bus.tls.enabled is false, but bus.servers starts with tls',
    ],
    ['bus: { servers: "nats://a", duplicateWindow: 2h }', 'bus.maxAge.requests is less than bus.duplicateWindow'],
    ['bus: { servers: "kafka://a", minInsyncReplicas: 4 }', `${at}bus.minInsyncReplicas is 4; expected at most`],
    [
      'bus: { servers: "nats://a", maxBytes: { changes: 12 MB } }',
      `${at}bus.maxBytes.changes is "12 MB"; expected a size`,
    ],
    ['store: { url: "http://h" }', `${at}store.url[0] is "http://h"; expected redis://`],
    ['store: { url: ["redis://h", "redis://i"] }', `${at}store.url has 2 addresses; expected one, or`],
    ['store: { url: ["redis://h", "rediss://i"], mode: cluster }', 'mixes redis:// and rediss://'],
    ['store: { url: "redis://h:70000" }', 'address 1 is not a valid address'],
    ['store: { url: "redis://u:%zz@h" }', 'address 1 has an invalid percent-encoding'],
    ['store: { url: "redis://u:***@h" }', 'address 1 has the password ***'],
    ['store: { url: "redis://h/2", mode: cluster }', 'address 1 selects a database'],
    ['store: { url: "redis://h", mode: sentinel }', `${at}store.mode is sentinel; set store.masterName`],
    ['store: { url: "redis://h", masterName: m }', `${at}store.masterName requires store.mode sentinel`],
    ['store: { url: "redis://h", tls: { ca: A } }', `${at}store.tls.ca requires rediss://`],
    ['leases: { ttl: 3 }', `${at}leases.ttl is 3; expected a duration`],
    ['leases: { heartbeat: 450ms }', `${at}leases.heartbeat is 450ms; expected less than half`],
    ['controllers: { enabled: nodes }', `${at}controllers.enabled is "nodes"; expected a list of controllers`],
    ['controllers: { maxEndpointsPerSlice: 1001 }', 'is 1001; expected an integer from 1 to 1000'],
    ['metricsBindAddress: 10270', `${at}metricsBindAddress is 10270; expected host:port`],
    ['log: { level: trace }', `${at}log.level is "trace"; expected debug, info, warn or error`],
    ['clusters: { name: a }', `${at}clusters is a map; expected a list of clusters`],
    [
      'clusters: [{ name: a, kubeConfig: k }]',
      `${at}clusters[0].kubeConfig is not a known setting; did you mean kubeconfig?`,
    ],
    ['clusters: [{ name: "", kubeconfig: k }]', `${at}clusters[0].name is empty; expected`],
    ['clusters: [{ name: a }]', `${at}clusters[0] needs a kubeconfig, a context of $KUBECONFIG`],
    [
      'clusters: [{ name: a, inCluster: true, context: c }]',
      `${at}clusters[0] sets both inCluster and a kubeconfig or context`,
    ],
    [
      'clusters: [{ name: a, inCluster: true }, { name: a, kubeconfig: k }]',
      `${at}clusters[1].name is "a", which is already the name of`,
    ],
    ['a: [', '/etc/sluice.yaml is not valid YAML: '],
    ['a: 1\na: 2', '/etc/sluice.yaml is not valid YAML: duplicated mapping key in line 2'],
  ])('%s', (file, message) => {
    expect(errorOf({ file, files: { '/etc/empty': '\n' } })).toContain(message);
  });

  test('if the file does not exist or is unreadable', () => {
    const load = (file: string | undefined, environment = {}) => loadConfiguration({ file, environment, flags: {} });
    expect(() => load('/nowhere/a')).toThrow('"/nowhere/a" does not exist; check --config or SLUICE_CONFIG');
    expect(() => load(undefined, { SLUICE_CONFIG: '/nowhere/b' })).toThrow('"/nowhere/b" does not exist');
    expect(() => load('/')).toThrow('"/" cannot be read: EISDIR');
  });

  test.each([
    [
      { environment: { SLUICE_BUS_SERVERS: 'nats://a,b/' } },
      'SLUICE_BUS_SERVERS (bus.servers[1]) is a string; expected nats',
    ],
    [{ flags: { '--store': 'http://a' } }, '--store (store.url[0]) is "http://a"; expected redis'],
    [{ flags: { '--in-cluster': true, '--kubeconfig': 'k' } }, 'sets both inCluster and a kubeconfig'],
  ])('%j', (given, message) => {
    expect(errorOf(given)).toContain(message);
  });

  test.each([
    { file: 'bus: { kind: natz, token: t }' },
    { file: 'bus: { servers: "http://a", token: t }' },
    { file: 'bus: { servers: "nats://a", token: [t] }' },
    { environment: { SLUICE_BUS_SERVERS: 'http://a', SLUICE_BUS_TOKEN: 't' } },
    { environment: { SLUICE_BUS_SERVERS: 'a:4222', SLUICE_BUS_TOKEN: 't' } },
  ])('with one line for one problem: %j', (given) => {
    expect(errorOf(given).split('\n')).toHaveLength(1);
  });

  test('with all problems at once', () => {
    const environment = { SLUICE_PARTITIONS: 'x', SLUICE_LOG_LEVEL: 'loud' };
    expect(errorOf({ environment, flags: { '--lease-ttl': '1h' } }).split('\n')).toEqual([
      'invalid configuration:',
      expect.stringContaining('SLUICE_PARTITIONS (partitions) is "x"; expected an integer'),
      expect.stringContaining('--lease-ttl (leases.ttl) is "1h"; expected a duration'),
      expect.stringContaining('SLUICE_LOG_LEVEL (log.level) is "loud"; expected debug'),
    ]);
  });

  test.each(['--bus', '--store'] as const)('credentials in %s', (flag) => {
    const message = errorOf({ flags: { [flag]: 'redis://u:hush@h' } });
    expect(message).toContain(`${flag} contains credentials`);
    expect(message).not.toContain('hush');
  });
});
