import { type ControllerDescriptor, controllers, descriptorOf } from '@sluice/controllers';
import type { Controller } from '@sluice/model';
import { logLevels } from '@sluice/platform/process';
import { defaultSettings } from '@sluice/service-state';
import { busSettings } from './bus-settings.ts';
import { consoleSettings, recordingSettings } from './console-settings.ts';
import * as kinds from './kinds.ts';
import { pem, type Setting, secret, setting } from './setting.ts';

/** A low ratio keeps the overhead small; failed and slow changes are recorded anyway. */
export const defaultTraceRatio = 0.05;

const { integer, duration, text } = kinds;
const upTo1000 = integer(1, 1000);
const batchPeriodKind = duration('0', '1h');

/** `ready-slices-updates-batch-period` → `readySlicesUpdatesBatchPeriod` */
const camelCase = (flag: string): string => flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

export const batchPeriodOf = (controller: Controller) =>
  // Safe by the type of the flag.
  camelCase(descriptorOf(controller).settings.batchPeriod.flag) as `${string}UpdatesBatchPeriod`;

export const concurrentSyncsOf = (controller: Controller) =>
  // Safe by the type of the flag.
  camelCase(descriptorOf(controller).settings.concurrentSyncs.flag) as `${string}Syncs`;

type ControllerSetting = Setting<number> & { readonly default: number };

/** A setting of each controller, off by default. */
function ofEachController(
  section: string,
  declare: (settings: ControllerDescriptor['settings']) => {
    readonly flag: string;
    readonly about: string;
    readonly kind: kinds.Kind<number>;
    readonly placeholder: string;
  },
): Readonly<Record<string, ControllerSetting>> {
  const declared = controllers.map((one) => declare(descriptorOf(one).settings));
  return Object.fromEntries(
    declared.map(({ flag, about, kind, placeholder }) => [
      `${section}.${camelCase(flag)}`,
      setting(kind, about, { flag: `--${flag} <${placeholder}>`, default: 0 }),
    ]),
  );
}

const declared = {
  fleet: setting(
    kinds.fleetName,
    'name of the fleet, used in streams, topics and keys; fleets with different names can share servers',
    { flag: '--fleet <name>', default: 'sluice' },
  ),
  partitions: setting(
    integer(1, 4096),
    'partitions of `changes` and of `mutations` with which a new fleet begins; later: `sluice partitions set`',
    { flag: '--partitions <n>', default: 16 },
  ),
  allowPlaintext: setting(
    kinds.boolean,
    'connect to a bus or store on another host without TLS and without credentials',
    { default: false },
  ),

  ...busSettings,

  'store.kind': setting(kinds.oneOf('memory', 'redis'), 'kind of store; derived from `store.url`', {
    default: 'memory',
  }),
  'store.url': setting(
    kinds.addresses(
      /^rediss?:\/\/(?:[^/?#@\s]*@)?(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?:\/\d{0,5})?$/,
      'redis://host:6379 or, with TLS, rediss://host:6379; in a user and password, %40 for @ and the like',
    ),
    'the server, some nodes of a Cluster, or all sentinels; `/2` at the end selects a database; the flag also takes `memory`',
    { flag: '--store <url,...>', address: true, example: ['redis://127.0.0.1:6379'] },
  ),
  'store.mode': setting(kinds.oneOf('standalone', 'sentinel', 'cluster'), 'what `store.url` names', {
    flag: '--store-mode <mode>',
    default: 'standalone',
  }),
  'store.masterName': setting(text, 'name of the master at the sentinels', {
    flag: '--store-master-name <name>',
    example: 'mymaster',
  }),
  'store.username': setting(text, 'ACL user; default: the user in `store.url`', { example: 'sluice' }),
  'store.password': setting(text, 'password of that user', secret),
  'store.sentinelUsername': setting(text, 'user of the sentinels', { example: 'sluice' }),
  'store.sentinelPassword': setting(text, 'password of that user', secret),
  'store.tls.ca': setting(text, 'certificate authorities in PEM; default: those of the system', pem),
  'store.tls.cert': setting(text, 'client certificate in PEM', pem),
  'store.tls.key': setting(text, 'key of that certificate in PEM', secret),
  'store.tls.serverName': setting(text, "name in the server's certificate; default: its host", {
    example: 'redis.example.com',
  }),
  'store.commandTimeout': setting(duration('100ms', '10m'), 'timeout of a Redis command', { default: 10_000 }),
  'store.maxDeadLetters': setting(integer(1, 1_000_000), 'maximum number of dead letters; the oldest are dropped', {
    default: 1000,
  }),

  'clusterSecrets.selector': setting(text, 'label selector of Secrets with kubeconfigs, one cluster each', {
    flag: '--cluster-secrets <selector>',
    example: 'sluice.io/cluster=true',
  }),
  'clusterSecrets.namespace': setting(text, 'namespace of these Secrets', {
    flag: '--cluster-secrets-namespace <name>',
    default: 'sluice',
  }),
  'clusterSecrets.kubeconfig': setting(
    kinds.path,
    'kubeconfig of the cluster with these Secrets; default: the cluster of this Pod',
    { flag: '--cluster-secrets-kubeconfig <file>', example: '/etc/sluice/management.kubeconfig' },
  ),
  'clusterSecrets.context': setting(text, 'context in that kubeconfig', { example: 'management' }),

  'leases.ttl': setting(
    duration('100ms', '10m'),
    'duration of a lease; a take-over after a crash takes about as long',
    { flag: '--lease-ttl <duration>', default: 900 },
  ),
  'leases.heartbeat': setting(
    duration('10ms', '5m'),
    'heartbeat interval, less than half of `leases.ttl`; default 250ms, or a third of a shorter lease',
    { example: '250ms' },
  ),

  'controllers.enabled': setting(
    kinds.controllers,
    'controllers to run: `*` for all, `foo` for one, `-foo` for all but one',
    { flag: '--controllers <list>', default: defaultSettings.controllers },
  ),
  'controllers.maxEndpointsPerSlice': setting(upTo1000, 'maximum endpoints per EndpointSlice', {
    flag: '--max-endpoints-per-slice <n>',
    default: defaultSettings.maxEndpointsPerSlice,
  }),
  'controllers.mirroringMaxEndpointsPerSubset': setting(upTo1000, 'maximum addresses mirrored per Endpoints subset', {
    flag: '--mirroring-max-endpoints-per-subset <n>',
    default: defaultSettings.maxEndpointsPerSubset,
  }),
  ...ofEachController('controllers', ({ batchPeriod }) => ({
    ...batchPeriod,
    kind: batchPeriodKind,
    placeholder: 'duration',
  })),

  'controllers.freshnessTarget': setting(
    duration('0', '10s'),
    'batch changes of busy Services as long as no endpoint is written later than this, at most 10s; 0 disables',
    { flag: '--freshness-target <duration>', default: 0 },
  ),
  'controllers.sliceWatchers': setting(
    integer(1, 1_000_000),
    'clients that watch EndpointSlices, about the number of Nodes; for `controllers.freshnessTarget` and metrics',
    { flag: '--slice-watchers <n>', default: defaultSettings.sliceWatchers },
  ),
  'controllers.compactionWritesPerHour': setting(
    integer(0, 1_000_000),
    'writes per hour and cluster to merge partly empty EndpointSlices in the background; 0 disables',
    { flag: '--compaction-writes-per-hour <n>', default: 0 },
  ),

  'watcher.maxCacheBytes': setting(
    kinds.size,
    'maximum memory for the objects of one cluster; a list or watch beyond it fails and is retried; default: half of the heap',
    { flag: '--max-cache-bytes <size>', example: '1Gi' },
  ),

  'writer.takeOver': setting(kinds.boolean, 'write even if kube-controller-manager seems to write the same objects', {
    flag: '--take-over',
    default: false,
  }),
  'writer.useServiceAccountCredentials': setting(
    kinds.boolean,
    "write with the credentials of each controller's own ServiceAccount in `kube-system`",
    { flag: '--use-service-account-credentials', default: false },
  ),
  'writer.maxInFlight': setting(upTo1000, 'maximum concurrent requests per cluster', {
    flag: '--max-writes-in-flight <n>',
    default: 64,
  }),
  'writer.maxPerSecond': setting(integer(0, 10_000), 'maximum requests per second and cluster; 0: unlimited', {
    flag: '--max-writes-per-second <n>',
    default: 0,
  }),
  'writer.maxRetriesPerSecond': setting(
    integer(0, 1000),
    'maximum retries per second and cluster, with a burst of ten seconds; 0: unlimited; kube-controller-manager: 10',
    { flag: '--max-retries-per-second <n>', default: 0 },
  ),
  ...ofEachController('writer', ({ concurrentSyncs }) => ({
    ...concurrentSyncs,
    kind: integer(0, concurrentSyncs.max),
    placeholder: 'n',
  })),
  'writer.maxRemovalPercent': setting(
    integer(1, 100),
    'percentage of its ready endpoints a cluster may lose in a minute before removals need confirmation; 100: no guard',
    { flag: '--max-removal-percent <n>', default: 25 },
  ),
  'writer.maxAdditionPercent': setting(
    integer(1, 100),
    'new addresses in a minute, as a percentage of the ready endpoints, before more need confirmation; 100: no guard',
    { flag: '--max-addition-percent <n>', default: 25 },
  ),
  'traces.endpoint': setting(
    kinds.otlpEndpoint,
    'where to send traces (OTLP over HTTP); `memory`: keep the last ones for the page of `sluice run`; default: nowhere, for the simulated cluster `memory`',
    {
      flag: '--otlp-endpoint <url>',
      address: true,
      example: 'http://127.0.0.1:4318',
    },
  ),
  'traces.ratio': setting(kinds.share, 'share of changes to trace; failed and slow ones are always traced', {
    flag: '--trace-ratio <share>',
    default: defaultTraceRatio,
  }),
  'traces.slow': setting(duration('0', '1h'), 'a change that takes longer than this is slow', {
    flag: '--trace-slow <duration>',
    default: 1_000,
  }),

  'log.level': setting(kinds.oneOf(...logLevels), 'minimum level of log lines', {
    flag: '--log-level <level>',
    default: 'info',
  }),
  'log.format': setting(kinds.oneOf('text', 'json'), 'format of log lines', {
    flag: '--log-format <format>',
    default: 'text',
  }),
  metricsBindAddress: setting(
    kinds.bindAddress,
    'address of `/metrics`, `/livez` and `/readyz`; 0 disables it; `auto`: 127.0.0.1:10270, or a free port if that is taken',
    { flag: '--metrics-bind-address <host:port>', default: undefined },
  ),

  ...consoleSettings,
  ...recordingSettings,
} as const;

/** All settings by path in the file. Names of variables derive from the paths. `clusters` is separate. */
const settings = declared as typeof declared & {
  readonly [P in
    | `controllers.${ReturnType<typeof batchPeriodOf>}`
    | `writer.${ReturnType<typeof concurrentSyncsOf>}`]: ControllerSetting;
};

/** A single cluster from variables or flags, which replaces the `clusters` of the file. */
export const clusterSettings = {
  'cluster.name': setting(text, 'name in logs and metrics; default: the context', {
    flag: '--cluster-name <name>',
  }),
  'cluster.kubeconfig': setting(
    kinds.path,
    'kubeconfig of the cluster, or a directory of kubeconfigs; with only a context: $KUBECONFIG or ~/.kube/config',
    { flag: '--kubeconfig <path>' },
  ),
  'cluster.context': setting(
    text,
    'context in that kubeconfig, several with commas, or `*`; default: the current one',
    { flag: '--context <name,...>' },
  ),
  'cluster.inCluster': setting(kinds.boolean, 'use the cluster of this Pod, with its service account', {
    flag: '--in-cluster',
  }),
  'cluster.namespaces': setting(kinds.namespaces, 'serve only these namespaces; default: all', {
    flag: '--namespaces <name,...>',
  }),
  'cluster.excludeNamespaces': setting(kinds.namespaces, 'serve all namespaces but these', {
    flag: '--exclude-namespaces <name,...>',
  }),
} as const;

/** With those of a single cluster. */
export const allSettings = { ...settings, ...clusterSettings } as typeof settings & typeof clusterSettings;
