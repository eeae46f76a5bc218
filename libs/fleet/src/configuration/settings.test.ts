import { readFileSync } from 'node:fs';
import { defaultJetStreamOptions } from '@sluice/bus/jetstream';
import { defaultKafkaTopics } from '@sluice/bus/kafka';
import { Command } from 'commander';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { fileLayer } from './file-layer.ts';
import {
  addConfigurationOptions,
  addConsoleOptions,
  addRecordingFlags,
  configurationSources,
} from './options/add-flags.ts';
import { exampleFile, toJson, toYaml } from './print.ts';
import { Problems } from './problems.ts';
import { flagOf, isClusterPath, type Path, paths, settingAt, variableOf } from './setting-paths.ts';
import { entry, errorOf, type Given, resolve } from './testing/resolve.ts';
import { settingsTable } from './testing/settings-table.ts';

const nats = { SLUICE_BUS_SERVERS: 'nats://n' };
const user = { SLUICE_BUS_USERNAME: 'u', SLUICE_BUS_PASSWORD: 'p' };
const kafka = { SLUICE_BUS_SERVERS: 'kafka://k' };
const redis = { SLUICE_STORE_URL: 'redis://r' };
const rediss = { SLUICE_STORE_URL: 'rediss://r' };
const sentinel = { ...redis, SLUICE_STORE_MODE: 'sentinel', SLUICE_STORE_MASTER_NAME: 'm' };
const kubeconfig = { SLUICE_CLUSTER_KUBECONFIG: '/k' };

/** For each setting: a value for its variable, how it is shown, and other variables that it requires. */
const samples: Readonly<
  Record<Path, readonly [text: string, shown: unknown, beside?: Readonly<Record<string, string>>]>
> = {
  fleet: ['shop', 'shop'],
  partitions: ['8', 8],
  allowPlaintext: ['true', true],
  'bus.kind': ['kafka', 'kafka', kafka],
  'bus.servers': ['nats://a, tls://b:1', ['nats://a', 'tls://b:1']],
  'bus.username': ['me', 'me', { ...nats, ...user }],
  'bus.password': ['pw', '***', { ...nats, ...user }],
  'bus.token': ['pw', '***', nats],
  'bus.nkeySeed': ['pw', '***', nats],
  'bus.creds': ['pw', '***', nats],
  'bus.mechanism': ['plain', 'plain', kafka],
  'bus.tls.enabled': ['true', true, nats],
  'bus.tls.ca': ['A', 'A', nats],
  'bus.tls.cert': ['C', 'C', { ...nats, SLUICE_BUS_TLS_KEY: 'K' }],
  'bus.tls.key': ['K', '***', { ...nats, SLUICE_BUS_TLS_CERT: 'C' }],
  'bus.tls.serverName': ['n', 'n', kafka],
  'bus.replicas': ['5', 5, nats],
  'bus.minInsyncReplicas': ['3', 3, kafka],
  'bus.maxAge.changes': ['90m', '1h30m', nats],
  'bus.maxAge.mutations': ['24h1s', '24h1s', kafka],
  'bus.maxAge.requests': ['10m', '10m', kafka],
  'bus.maxBytes.changes': ['2048', '2Ki', nats],
  'bus.maxBytes.mutations': ['1Gi', '1Gi', nats],
  'bus.maxBytes.requests': ['1500', 1500, nats],
  'bus.duplicateWindow': ['1m', '1m', nats],
  'bus.maxMessageBytes': ['1024Ki', '1Mi', kafka],
  'bus.connectWithin': ['1500ms', '1s500ms', nats],
  'store.kind': ['redis', 'redis', redis],
  'store.url': ['redis://u:p@a/3', ['redis://***@a/3']],
  'store.mode': ['cluster', 'cluster', redis],
  'store.masterName': ['other', 'other', sentinel],
  'store.username': ['me', 'me', redis],
  'store.password': ['pw', '***', redis],
  'store.sentinelUsername': ['me', 'me', sentinel],
  'store.sentinelPassword': ['pw', '***', sentinel],
  'store.tls.ca': ['A', 'A', rediss],
  'store.tls.cert': ['C', 'C', { ...rediss, SLUICE_STORE_TLS_KEY: 'K' }],
  'store.tls.key': ['K', '***', { ...rediss, SLUICE_STORE_TLS_CERT: 'C' }],
  'store.tls.serverName': ['n', 'n', rediss],
  'store.commandTimeout': ['5s', '5s', redis],
  'store.maxDeadLetters': ['7', 7, redis],
  'clusterSecrets.selector': ['a=b', 'a=b'],
  'clusterSecrets.namespace': ['fleet', 'fleet'],
  'clusterSecrets.kubeconfig': ['/m', '/m'],
  'clusterSecrets.context': ['c', 'c', { SLUICE_CLUSTER_SECRETS_KUBECONFIG: '/m' }],
  'leases.ttl': ['2s', '2s'],
  'leases.heartbeat': ['200ms', '200ms'],
  'controllers.enabled': ['*,-endpoint', 'endpointslice-controller,endpointslice-mirroring-controller'],
  'controllers.maxEndpointsPerSlice': ['1', 1],
  'controllers.mirroringMaxEndpointsPerSubset': ['2', 2],
  'controllers.endpointUpdatesBatchPeriod': ['1s', '1s'],
  'controllers.endpointsliceUpdatesBatchPeriod': ['0', '0s'],
  'controllers.mirroringEndpointsliceUpdatesBatchPeriod': ['0.5s', '500ms'],
  'controllers.freshnessTarget': ['0.5s', '500ms'],
  'controllers.sliceWatchers': ['5000', 5000],
  'controllers.compactionWritesPerHour': ['500', 500],
  'watcher.maxCacheBytes': ['512Mi', '512Mi'],
  'writer.takeOver': ['true', true],
  'writer.useServiceAccountCredentials': ['true', true],
  'writer.maxInFlight': ['8', 8],
  'writer.maxPerSecond': ['50', 50],
  'writer.maxRetriesPerSecond': ['10', 10],
  'writer.concurrentEndpointSyncs': ['5', 5],
  'writer.concurrentServiceEndpointSyncs': ['50', 50],
  'writer.mirroringConcurrentServiceEndpointSyncs': ['1', 1],
  'writer.maxRemovalPercent': ['100', 100],
  'writer.maxAdditionPercent': ['100', 100],
  'traces.endpoint': ['https://jaeger:4318', 'https://jaeger:4318/v1/traces'],
  'traces.ratio': ['0.5', 0.5],
  'traces.slow': ['3s', '3s'],
  'log.level': ['debug', 'debug'],
  'log.format': ['json', 'json'],
  metricsBindAddress: ['[::1]:80', '[::1]:80'],
  'console.bindAddress': ['127.0.0.1:8080', '127.0.0.1:8080'],
  'console.hosts': ['sluice.example.com,[::1]', ['sluice.example.com', '[::1]']],
  'console.token': ['pw', '***'],
  'console.authorizationMode': ['cluster', 'cluster'],
  'console.tls.cert': ['C', 'C', { SLUICE_CONSOLE_TLS_KEY: 'K' }],
  'console.tls.key': ['K', '***', { SLUICE_CONSOLE_TLS_CERT: 'C' }],
  'console.maxBytes': ['1Gi', '1Gi'],
  'console.maxServices': ['100000', 100_000],
  'console.retention': ['2h', '2h'],
  'console.lostClusters': ['drop', 'drop'],
  'console.lostClusterMaxAge': ['1h', '1h'],
  'console.degradedAfter': ['2m', '2m'],
  'console.degradedBelow': ['0.75', 0.75],
  'console.serviceNameLabel': ['example.com/service', 'example.com/service'],
  'recording.directory': ['/r', '/r'],
  'recording.maxBytes': ['2Gi', '2Gi'],
  'recording.retention': ['48h', '48h'],
  'recording.problemsConfig': ['/p.yaml', '/p.yaml'],
  'recording.webhookUrl': ['https://hook', '***'],
  'console.jaegerUrl': ['http://j/trace/{traceId}', 'http://j/trace/{traceId}'],
  'console.jaegerQueryUrl': ['http://j:16686/', 'http://j:16686'],
  'cluster.name': ['a', [{ name: 'a', kubeconfig: '/k' }], kubeconfig],
  'cluster.kubeconfig': ['/l', [{ kubeconfig: '/l' }]],
  'cluster.context': ['c', [{ name: 'c', kubeconfig: '/k', context: 'c' }], kubeconfig],
  'cluster.inCluster': ['true', [{ inCluster: true }]],
  'cluster.namespaces': ['a,b', [{ kubeconfig: '/k', namespaces: ['a', 'b'] }], kubeconfig],
  'cluster.excludeNamespaces': ['a', [{ kubeconfig: '/k', excludeNamespaces: ['a'] }], kubeconfig],
};

function sampleOf(path: Path) {
  const sample = samples[path];
  if (sample === undefined) throw new Error(`no sample of ${path}`);
  return sample;
}

const shownAt = (path: Path) => (isClusterPath(path) ? 'clusters' : path);

describe('each documented variable works', () => {
  test.each(paths)('for %s', (path) => {
    const [text, shown, beside] = sampleOf(path);
    const variable = variableOf(path);
    const resolved = resolve({ environment: { ...beside, [variable]: text } });
    expect(resolved.warnings).toEqual([]);
    const found = entry(resolved, shownAt(path));
    expect(found?.shown).toEqual(shown);
    if (!isClusterPath(path)) expect(found?.origin).toEqual({ from: 'environment', variable });
  });

  test.each(paths.filter((path) => settingAt(path).file))('for the file with %s', (path) => {
    const [text, , beside] = sampleOf(path);
    const variable = variableOf(`${path}File`);
    const { [variableOf(path)]: _, ...others } = beside ?? {};
    const given = resolve({ environment: { ...others, [variable]: '/f' }, files: { '/f': `${text}\n` } });
    expect(entry(given, `${path}File`)).toEqual({
      path: `${path}File`,
      shown: '/f',
      origin: { from: 'environment', variable },
    });
    const direct = resolve({ environment: { ...others, [variableOf(path)]: text } });
    expect(given.configuration).toEqual(direct.configuration);
  });
});

describe('unknown variables', () => {
  test.each([
    ['SLUICE_BUS_SERVER', 'did you mean SLUICE_BUS_SERVERS?'],
    ['SLUICE_CONFG', 'did you mean SLUICE_CONFIG?'],
    ['SLUICE_STORE_PASWORD_FILE', 'did you mean SLUICE_STORE_PASSWORD_FILE?'],
    ['SLUICE_SOMETHING_ELSE_ALTOGETHER', 'unknown environment variable SLUICE_SOMETHING_ELSE_ALTOGETHER'],
  ])('%s causes a warning', (variable, warning) => {
    expect(resolve({ environment: { [variable]: 'hush' } }).warnings).toEqual([expect.stringContaining(warning)]);
  });

  test.each([
    'SLUICE_CONSOLE',
    'SLUICE_CONSOLE_SERVICE_HOST',
    'SLUICE_SERVICE_PORT_HTTP',
    'SLUICE_PORT',
    'SLUICE_PORT_10270_TCP',
    'SLUICE_PORT_10270_TCP_ADDR',
    'PATH',
  ])('%s, which Kubernetes sets for a Service, commands read or belongs to others, is ignored', (variable) => {
    expect(resolve({ environment: { [variable]: 'x' } }).warnings).toEqual([]);
  });
});

describe('OpenTelemetry variables', () => {
  const traces = (environment: Record<string, string>, file?: string) => {
    const { configuration, warnings } = resolve({ environment, ...(file !== undefined && { file }) });
    expect(warnings).toEqual([]);
    return configuration.traces;
  };
  const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/otlp/' };

  test('set the endpoint of all signals, or that of traces', () => {
    expect(traces(base).endpoint).toBe('http://c:4318/otlp/v1/traces');
    expect(traces({ ...base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t/x' }).endpoint).toBe('http://t/x');
    expect(traces({}).endpoint).toBeUndefined();
  });

  test.each([
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' }, 0.25],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio' }, 1],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_on' }, 1],
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, 0],
  ])('set the sampling ratio: %j', (environment, ratio) => expect(traces(environment).ratio).toBe(ratio));

  test.each([{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }])('%j disables tracing', (off) => {
    expect(traces({ ...base, ...off }).endpoint).toBeUndefined();
  });

  test('override the file and are overridden by Sluice variables and flags', () => {
    const file = 'traces: { endpoint: "http://file", ratio: 0.1 }';
    expect(traces(base, file)).toMatchObject({ endpoint: 'http://c:4318/otlp/v1/traces', ratio: 0.1 });
    expect(traces({ ...base, SLUICE_TRACES_ENDPOINT: 'http://own' }).endpoint).toBe('http://own/v1/traces');
  });

  test('with unsupported values cause warnings; invalid ones are rejected', () => {
    const { warnings } = resolve({
      environment: { ...base, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'jaeger_remote' },
    });
    expect(warnings).toEqual([
      'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; Sluice supports http/protobuf only',
      'OTEL_TRACES_SAMPLER is "jaeger_remote", which Sluice does not support; --trace-ratio applies',
    ]);
    const wrong = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' };
    expect(errorOf({ environment: wrong })).toContain('OTEL_TRACES_SAMPLER (traces.ratio)');
    expect(errorOf({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:hush@c' } })).not.toContain('hush');
  });
});

describe('flags', () => {
  const parse = (...args: string[]) => {
    const command = addRecordingFlags(
      addConsoleOptions(addConfigurationOptions(new Command('console'))),
    ).exitOverride();
    command.parse(args, { from: 'user' });
    return configurationSources(command, {}, () => {});
  };
  const flags = paths.flatMap((path) => {
    const flag = flagOf(path);
    return flag === undefined ? [] : [{ flag, path, file: settingAt(path).file === true }];
  });

  test('a command with all options has every flag', () => {
    const { options } = addRecordingFlags(addConsoleOptions(addConfigurationOptions(new Command('console'))));
    expect(options.map(({ long }) => long).toSorted()).toEqual(
      ['--config', ...flags.map(({ flag }) => flag)].toSorted(),
    );
  });

  test('the help has the description, range and default of the setting, and flags in place of other settings', () => {
    const { options } = addConfigurationOptions(new Command('worker'));
    const help = (flag: string) => options.find(({ long }) => long === flag)?.description;
    expect(help('--max-endpoints-per-slice')).toBe('maximum endpoints per EndpointSlice (1–1000, default 100)');
    expect(help('--concurrent-endpoint-syncs')).toContain('only --max-writes-in-flight bounds them');
    expect(help('--otlp-endpoint')).toContain('(e.g. http://127.0.0.1:4318)');
  });

  test('defaults of flags that were not given are ignored', () => {
    expect(parse('--config', 'f')).toMatchObject({ file: 'f', flags: {} });
  });

  test('no flag takes a secret', () => {
    for (const { path, file } of flags) expect(!file && settingAt(path).secret, path).not.toBe(true);
  });

  test.each(flags.filter(({ file }) => file))('$flag names a file', ({ flag, path }) => {
    const [text, shown, beside] = sampleOf(path);
    const { flags } = parse(`${flag}=/f`);
    const given = resolve({ environment: beside ?? {}, flags, files: { '/f': `${text}\n` } });
    expect(entry(given, `${path}File`)).toEqual({ path: `${path}File`, shown: '/f', origin: { from: 'flag', flag } });
    expect(shown).toBeDefined();
  });

  test.each(flags.filter(({ file }) => !file))('$flag sets the same as its variable', ({ flag, path }) => {
    const [sample, , beside] = sampleOf(path);
    const text = path === 'store.url' ? 'redis://a' : sample;
    const { flags } = parse(...(sample === 'true' ? [flag] : [`${flag}=${text}`]));
    const byFlag = resolve({ environment: beside ?? {}, flags });
    expect(byFlag.configuration).toEqual(
      resolve({ environment: { ...beside, [variableOf(path)]: text } }).configuration,
    );
    if (!isClusterPath(path)) expect(entry(byFlag, path)?.origin).toEqual({ from: 'flag', flag });
  });
});

describe('the printed configuration', () => {
  const clusters = [
    '[]',
    '[{ name: a b, kubeconfig: /k }, { name: "true", inCluster: true }]',
    '[{ name: 1s, inCluster: true }]',
  ];
  /** Settings that are valid together, none of them secret. */
  const givens: readonly Given[] = paths
    .filter((path) => !/password|token|creds|nkey|tls.key|tls.cert|username|url/i.test(path))
    .flatMap((path, index): Given[] => {
      const [text, , beside] = sampleOf(path);
      const environment = { ...beside, [variableOf(path)]: text };
      return [{ environment, ...(!isClusterPath(path) && { file: `clusters: ${clusters[index % 3]}` }) }];
    });

  test.each([
    ['YAML', toYaml],
    ['JSON', toJson],
  ])('is an equivalent configuration file as %s', (_, print) => {
    for (const given of givens) {
      const { configuration, entries } = resolve(given);
      expect(resolve({ file: print(entries) }).configuration).toEqual(configuration);
    }
  });

  test('quotes any text so that it is read back unchanged', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (name) => {
        fc.pre(name !== '***');
        const file = JSON.stringify({ clusters: [{ name, inCluster: true }] });
        const { configuration, entries } = resolve({ file });
        expect(configuration.clusters[0]?.name).toBe(name);
        expect(resolve({ file: toYaml(entries) }).configuration).toEqual(configuration);
      }),
    );
  });

  test('shows the origin of each value', () => {
    const { entries } = resolve({
      file: 'fleet: shop\nbus: { servers: "nats://n", username: u, passwordFile: pw }',
      files: { '/etc/pw': 'hush' },
      environment: { SLUICE_STORE_URL: 'redis://me:hush@r' },
      flags: { '--in-cluster': true },
    });
    const lines = toYaml(entries).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'fleet: shop # file',
        'partitions: 16 # default',
        '  kind: nats # file',
        '  passwordFile: /etc/pw # file',
        '  url: # env SLUICE_STORE_URL',
        '    - "redis://***@r"',
        'clusters: # flag --in-cluster',
      ]),
    );
    expect(load(lines.join('\n'))).toEqual(JSON.parse(toJson(entries)));
  });
});

describe('the example file', () => {
  test('loads, with NATS and Redis', () => {
    expect(resolve({ file: exampleFile() }).configuration).toMatchObject({
      bus: { kind: 'nats' },
      store: { kind: 'redis' },
    });
  });

  test('contains every setting, valid once uncommented', () => {
    const problems = new Problems();
    const uncommented = exampleFile().replace(/^( *)# (\w+: | {2}\w+: |- name)/gm, '$1$2');
    const layer = fileLayer('/x', () => uncommented, problems);
    problems.throwIfAny();
    for (const path of paths.filter((one) => !isClusterPath(one))) {
      expect(layer.has(path) || layer.has(`${path}File`), path).toBe(true);
    }
    expect(layer.get('clusters')?.raw).toHaveLength(3);
  });
});

test('the defaults match the adapters', () => {
  expect(resolve({ environment: kafka }).configuration.bus).toMatchObject(defaultKafkaTopics);
  expect(resolve({ environment: nats }).configuration.bus).toMatchObject(defaultJetStreamOptions);
});

test('docs/reference/settings.md contains the table of all settings', () => {
  const page = readFileSync(new URL('../../../../docs/reference/settings.md', import.meta.url), 'utf8');
  expect(page).toContain(settingsTable());
});
