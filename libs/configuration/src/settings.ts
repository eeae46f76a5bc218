import { logLevels } from '@sluice/process';
import { defaultSettings } from '@sluice/service-state';
import type { Kind } from './kinds.ts';
import * as kinds from './kinds.ts';
import { defaultTraces } from './options/traces-options.ts';
import { writerDefaults } from './options/writer-options.ts';

export interface Setting<T> {
  readonly kind: Kind<T>;
  /** Description for the documentation and the example. */
  readonly about: string;
  readonly default?: T;
  /** Default per kind of bus, if they differ. */
  readonly defaultOf?: Readonly<Record<string, T>>;
  /** Never printed. */
  readonly secret?: boolean;
  /** An address, which may contain a password. */
  readonly address?: boolean;
  /** The value may be read from a file, named by `<path>File`. */
  readonly file?: boolean;
  /** Kinds of bus or store to which the setting applies. Default: all. */
  readonly of?: readonly string[];
  /** Value for the example file, if the default is not helpful. */
  readonly example?: kinds.Plain;
}

function setting<T>(kind: Kind<T>, about: string, rest: Omit<Setting<NoInfer<T>>, 'kind' | 'about'> = {}): Setting<T> {
  return { kind, about, ...rest };
}

const pem = { file: true, example: '-----BEGIN CERTIFICATE-----…' } as const;
const secret = { file: true, secret: true } as const;
const remote = ['nats', 'kafka'] as const;
const { batchPeriodMs } = defaultSettings;
const upTo1000 = kinds.integer(1, 1000);
const batchPeriod = kinds.duration('0', '1h');
const age = kinds.duration('1m', '8760h');

/** All settings by path in the file. Names of variables derive from the paths. `clusters` is separate. */
export const settings = {
  fleet: setting(
    kinds.fleetName,
    'name of the fleet, used in streams, topics and keys; fleets with different names can share servers',
    {
      default: 'sluice',
    },
  ),
  partitions: setting(
    kinds.integer(1, 4096),
    'partitions of `changes` and of `mutations` with which a new fleet begins; later: `sluice partitions set`',
    {
      default: 16,
    },
  ),
  allowPlaintext: setting(
    kinds.boolean,
    'connect to a bus or store on another host without TLS and without credentials',
    { default: false },
  ),

  'bus.kind': setting(kinds.oneOf('memory', 'nats', 'kafka'), 'kind of bus; derived from the scheme of `bus.servers`', {
    default: 'memory',
  }),
  'bus.servers': setting(
    kinds.addresses(
      /^((nats|tls|kafka):\/\/)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/,
      'nats://host:4222, tls://host:4222 or kafka://host:9092, without user and password',
    ),
    'one or more servers or brokers; they name the others',
    { address: true, of: remote, example: ['nats://127.0.0.1:4222'] },
  ),
  'bus.username': setting(kinds.text, 'user (NATS, or SASL on Kafka)', { of: remote, example: 'sluice' }),
  'bus.password': setting(kinds.text, 'password of that user', { ...secret, of: remote }),
  'bus.token': setting(kinds.text, 'token instead of a user', { ...secret, of: ['nats'] }),
  'bus.nkeySeed': setting(kinds.text, 'nkey seed (`SU…`) instead of a user', { ...secret, of: ['nats'] }),
  'bus.creds': setting(kinds.text, 'content of a `.creds` file instead of a user', { ...secret, of: ['nats'] }),
  'bus.mechanism': setting(kinds.oneOf('plain', 'scram-sha-256', 'scram-sha-512'), 'SASL mechanism', {
    of: ['kafka'],
    default: 'scram-sha-512',
  }),
  'bus.tls.enabled': setting(kinds.boolean, 'use TLS; implied by `tls://` or any other setting of `bus.tls`', {
    of: remote,
  }),
  'bus.tls.ca': setting(kinds.text, 'certificate authorities in PEM; default: those of the system', {
    ...pem,
    of: remote,
  }),
  'bus.tls.cert': setting(kinds.text, 'client certificate in PEM', { ...pem, of: remote }),
  'bus.tls.key': setting(kinds.text, 'key of that certificate in PEM', { ...secret, of: remote }),
  'bus.tls.serverName': setting(kinds.text, "name in the brokers' certificates; default: their host", {
    of: ['kafka'],
    example: 'kafka.example.com',
  }),
  'bus.replicas': setting(kinds.integer(1, 15), 'replicas of each stream or topic; with NATS 1, 3 or 5', {
    of: remote,
    defaultOf: { nats: 1, kafka: 3 },
  }),
  'bus.minInsyncReplicas': setting(
    kinds.integer(1, 15),
    'replicas an append waits for; default 2, or 1 with one replica',
    {
      of: ['kafka'],
    },
  ),
  'bus.maxAge.changes': setting(age, 'retention of `changes`', { of: remote, default: 86_400_000 }),
  'bus.maxAge.mutations': setting(age, 'retention of `mutations`', { of: remote, default: 86_400_000 }),
  'bus.maxAge.requests': setting(age, 'retention of `requests`', {
    of: remote,
    defaultOf: { nats: 3_600_000, kafka: 86_400_000 },
  }),
  'bus.maxBytes.changes': setting(kinds.size, 'maximum size of a partition of `changes`', {
    of: remote,
    default: 64 * 1024 ** 2,
  }),
  'bus.maxBytes.mutations': setting(kinds.size, 'maximum size of a partition of `mutations`', {
    of: remote,
    default: 64 * 1024 ** 2,
  }),
  'bus.maxBytes.requests': setting(kinds.size, 'maximum size of `requests`', { of: remote, default: 16 * 1024 ** 2 }),
  'bus.duplicateWindow': setting(kinds.duration('1s', '24h'), 'how long the bus recognises a repeated record', {
    of: ['nats'],
    default: 120_000,
  }),
  'bus.maxMessageBytes': setting(
    kinds.size,
    'largest batch of records; a lower limit of an existing topic takes precedence',
    { of: ['kafka'], default: 4 * 1024 ** 2 },
  ),
  'bus.connectWithin': setting(
    kinds.duration('100ms', '1h'),
    'how long an attempt to reach the bus lasts; roles try again without end, commands give up',
    {
      of: remote,
      default: 30_000,
    },
  ),

  'store.kind': setting(kinds.oneOf('memory', 'redis'), 'kind of store; derived from `store.url`', {
    default: 'memory',
  }),
  'store.url': setting(
    kinds.addresses(
      /^rediss?:\/\/(?:[^/?#@\s]*@)?(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?:\/\d{0,5})?$/,
      'redis://host:6379 or, with TLS, rediss://host:6379; in a user and password, %40 for @ and the like',
    ),
    'the server, some nodes of a Cluster, or all sentinels; `/2` at the end selects a database',
    { address: true, of: ['redis'], example: ['redis://127.0.0.1:6379'] },
  ),
  'store.mode': setting(kinds.oneOf('standalone', 'sentinel', 'cluster'), 'what `store.url` names', {
    of: ['redis'],
    default: 'standalone',
  }),
  'store.masterName': setting(kinds.text, 'name of the master at the sentinels', {
    of: ['redis'],
    example: 'mymaster',
  }),
  'store.username': setting(kinds.text, 'ACL user; default: the user in `store.url`', {
    of: ['redis'],
    example: 'sluice',
  }),
  'store.password': setting(kinds.text, 'password of that user', { ...secret, of: ['redis'] }),
  'store.sentinelUsername': setting(kinds.text, 'user of the sentinels', { of: ['redis'], example: 'sluice' }),
  'store.sentinelPassword': setting(kinds.text, 'password of that user', { ...secret, of: ['redis'] }),
  'store.tls.ca': setting(kinds.text, 'certificate authorities in PEM; default: those of the system', {
    ...pem,
    of: ['redis'],
  }),
  'store.tls.cert': setting(kinds.text, 'client certificate in PEM', { ...pem, of: ['redis'] }),
  'store.tls.key': setting(kinds.text, 'key of that certificate in PEM', { ...secret, of: ['redis'] }),
  'store.tls.serverName': setting(kinds.text, "name in the server's certificate; default: its host", {
    of: ['redis'],
    example: 'redis.example.com',
  }),
  'store.commandTimeout': setting(kinds.duration('100ms', '10m'), 'timeout of a Redis command', {
    of: ['redis'],
    default: 10_000,
  }),
  'store.maxDeadLetters': setting(
    kinds.integer(1, 1_000_000),
    'maximum number of dead letters; the oldest are dropped',
    {
      of: ['redis'],
      default: 1000,
    },
  ),

  'clusterSecrets.selector': setting(kinds.text, 'label selector of Secrets with kubeconfigs, one cluster each'),
  'clusterSecrets.namespace': setting(kinds.text, 'namespace of these Secrets', { default: 'sluice' }),
  'clusterSecrets.kubeconfig': setting(
    kinds.path,
    'kubeconfig of the cluster with these Secrets; default: the cluster of this Pod',
  ),
  'clusterSecrets.context': setting(kinds.text, 'context in that kubeconfig'),

  'leases.ttl': setting(
    kinds.duration('100ms', '10m'),
    'duration of a lease, and about the time of a take-over after a crash',
    {
      default: 900,
    },
  ),
  'leases.heartbeat': setting(
    kinds.duration('10ms', '5m'),
    'heartbeat interval, less than half of `leases.ttl`; default 250ms, or a third of a shorter lease',
  ),

  'controllers.enabled': setting(
    kinds.controllers,
    'controllers to run: `*` for all, `foo` for one, `-foo` for all but one',
    { default: defaultSettings.controllers },
  ),
  'controllers.maxEndpointsPerSlice': setting(upTo1000, 'maximum endpoints per EndpointSlice', {
    default: defaultSettings.maxEndpointsPerSlice,
  }),
  'controllers.mirroringMaxEndpointsPerSubset': setting(upTo1000, 'maximum addresses mirrored per Endpoints subset', {
    default: defaultSettings.maxEndpointsPerSubset,
  }),
  'controllers.endpointUpdatesBatchPeriod': setting(
    batchPeriod,
    'time to batch Pod changes before updating Endpoints',
    {
      default: batchPeriodMs.endpoints,
    },
  ),
  'controllers.endpointsliceUpdatesBatchPeriod': setting(
    batchPeriod,
    'time to batch Pod changes before updating EndpointSlices',
    {
      default: batchPeriodMs.endpointslice,
    },
  ),
  'controllers.mirroringEndpointsliceUpdatesBatchPeriod': setting(
    batchPeriod,
    'time to wait before repairing mirrored EndpointSlices',
    { default: batchPeriodMs.endpointslicemirroring },
  ),

  'controllers.freshnessTarget': setting(
    kinds.duration('0', '10s'),
    'batch changes of busy Services as long as no endpoint is written later than this; 0 disables',
    { default: 0 },
  ),
  'controllers.sliceWatchers': setting(
    kinds.integer(1, 1_000_000),
    'clients that watch EndpointSlices, about the number of Nodes',
    { default: defaultSettings.sliceWatchers },
  ),
  'controllers.compactionWritesPerHour': setting(
    kinds.integer(0, 1_000_000),
    'writes per hour and cluster to merge partly empty EndpointSlices in the background; 0 disables',
    { default: 0 },
  ),

  'watcher.maxCacheBytes': setting(
    kinds.size,
    'maximum memory for the objects of one cluster; a list or watch beyond it fails and is retried; default: half of the heap',
    { example: '1Gi' },
  ),

  'writer.takeOver': setting(kinds.boolean, 'write even if kube-controller-manager seems to write the same objects', {
    default: writerDefaults.takeOver,
  }),
  'writer.useServiceAccountCredentials': setting(
    kinds.boolean,
    "write with the credentials of each controller's own ServiceAccount in `kube-system`",
    { default: writerDefaults.useServiceAccountCredentials },
  ),
  'writer.maxInFlight': setting(upTo1000, 'maximum concurrent requests per cluster', {
    default: writerDefaults.maxWritesInFlight,
  }),
  'writer.maxPerSecond': setting(kinds.integer(0, 10_000), 'maximum requests per second and cluster; 0: unlimited', {
    default: writerDefaults.maxWritesPerSecond,
  }),
  'writer.maxRetriesPerSecond': setting(
    kinds.integer(0, 1000),
    'maximum retries per second and cluster, with a burst of ten seconds; 0: unlimited; kube-controller-manager: 10',
    { default: writerDefaults.maxRetriesPerSecond },
  ),
  'writer.concurrentEndpointSyncs': setting(
    kinds.integer(0, 1000),
    'maximum concurrent requests of the Endpoints controller per cluster; 0: only `writer.maxInFlight` bounds them',
    { default: writerDefaults.concurrentEndpointSyncs },
  ),
  'writer.concurrentServiceEndpointSyncs': setting(kinds.integer(0, 50), 'the same for the EndpointSlice controller', {
    default: writerDefaults.concurrentServiceEndpointSyncs,
  }),
  'writer.mirroringConcurrentServiceEndpointSyncs': setting(
    kinds.integer(0, 50),
    'the same for the EndpointSliceMirroring controller',
    { default: writerDefaults.mirroringConcurrentServiceEndpointSyncs },
  ),
  'writer.maxRemovalPercent': setting(
    kinds.integer(1, 100),
    'percentage of its ready endpoints a cluster may lose in a minute before removals need confirmation; 100: no guard',
    { default: writerDefaults.maxRemovalPercent },
  ),
  'writer.maxAdditionPercent': setting(
    kinds.integer(1, 100),
    'new addresses in a minute, as a percentage of the ready endpoints, before more need confirmation; 100: no guard',
    { default: writerDefaults.maxAdditionPercent },
  ),
  'traces.endpoint': setting(kinds.otlpEndpoint, 'where to send traces (OTLP over HTTP); default: nowhere', {
    address: true,
    example: 'http://127.0.0.1:4318',
  }),
  'traces.ratio': setting(kinds.share, 'share of changes to trace; failed and slow ones are always traced', {
    default: defaultTraces.traceRatio,
  }),
  'traces.slow': setting(kinds.duration('0', '1h'), 'a change that takes longer than this is slow', {
    default: defaultTraces.traceSlow,
  }),

  'log.level': setting(kinds.oneOf(...logLevels), 'minimum level of log lines', { default: 'info' }),
  'log.format': setting(kinds.oneOf('text', 'json'), 'format of log lines', { default: 'text' }),
  metricsBindAddress: setting(
    kinds.bindAddress,
    'address of `/metrics`, `/livez` and `/readyz`; `auto`: 127.0.0.1:10270, or a free port if that is taken',
    { default: undefined },
  ),

  'console.bindAddress': setting(
    kinds.bindAddress,
    'address of page, API, `/metrics`, `/livez` and `/readyz` of a console; `auto`: 127.0.0.1:10270, or a free port if that is taken',
    { default: undefined },
  ),
  'console.hosts': setting(kinds.hostNames, 'host names of a console, in addition to those of loopback', {
    example: ['sluice.example.com'],
  }),
  'console.token': setting(
    kinds.text,
    'token that clients of a console need; required unless it listens on loopback',
    secret,
  ),
  'console.tls.cert': setting(
    kinds.text,
    'certificate of a console in PEM; required unless it listens on loopback',
    pem,
  ),
  'console.tls.key': setting(kinds.text, 'key of that certificate in PEM', secret),
  'console.maxBytes': setting(kinds.size, 'maximum size of the history of a console', { default: 128 * 1024 ** 2 }),
  'console.retention': setting(age, 'maximum age of that history, within the retention of the bus', {
    default: 86_400_000,
  }),
  'console.jaegerUrl': setting(kinds.traceUrl, 'address that a console links traces to; `{traceId}` is replaced', {
    example: 'http://127.0.0.1:16686/trace/{traceId}',
  }),
  'console.jaegerQueryUrl': setting(kinds.queryUrl, 'Jaeger query address for the traces a console shows', {
    example: 'http://127.0.0.1:16686',
  }),
} as const;

/** A single cluster from variables or flags, which replaces the `clusters` of the file. */
export const clusterSettings = {
  'cluster.name': setting(kinds.text, 'name in logs and metrics; default: the context'),
  'cluster.kubeconfig': setting(
    kinds.path,
    'kubeconfig of the cluster, or a directory of kubeconfigs; default: $KUBECONFIG or ~/.kube/config',
  ),
  'cluster.context': setting(
    kinds.text,
    'context in that kubeconfig, several with commas, or `*`; default: the current one',
  ),
  'cluster.inCluster': setting(kinds.boolean, 'use the cluster of this Pod'),
  'cluster.namespaces': setting(kinds.namespaces, 'serve only these namespaces; default: all'),
  'cluster.excludeNamespaces': setting(kinds.namespaces, 'serve all namespaces but these'),
} as const;

const all = { ...settings, ...clusterSettings };

export type Path = keyof typeof all;
export type ValueOf<P extends Path> = (typeof all)[P] extends Setting<infer T> ? T : never;

export const paths = Object.keys(all) as readonly Path[];

/** Setting without the type of its value. */
export function settingAt(path: Path): Setting<unknown> {
  return all[path];
}

/** `bus.maxAge.changes` → `SLUICE_BUS_MAX_AGE_CHANGES` */
export function variableOf(path: string): string {
  return `SLUICE_${path.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase()}`;
}

/** How much of a wrong value a message may show. */
export type Visibility = 'shown' | 'address' | 'hidden';

export function visibilityOf({ secret, address }: Setting<unknown>): Visibility {
  return secret ? 'hidden' : address ? 'address' : 'shown';
}

export function isClusterPath(path: Path): path is keyof typeof clusterSettings {
  return path in clusterSettings;
}
