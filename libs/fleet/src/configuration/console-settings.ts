import * as kinds from './kinds.ts';
import { pem, secret, setting } from './setting.ts';

const { age, duration, integer, text } = kinds;

export const consoleSettings = {
  'console.bindAddress': setting(
    kinds.bindAddress,
    'address of page, API, `/metrics`, `/livez` and `/readyz`; `auto`: 127.0.0.1:10270 or a free port; of `run`, `observe` and `open`: `metricsBindAddress`',
    { flag: '--console-bind-address <host:port>', default: undefined },
  ),
  'console.hosts': setting(kinds.hostNames, 'host names of a console, in addition to those of loopback', {
    flag: '--console-host <name,...>',
    example: ['sluice.example.com'],
  }),
  'console.token': setting(text, 'token that clients of a console need; required unless it listens on loopback', {
    flag: '--console-token-file <file>',
    ...secret,
  }),
  'console.authorizationMode': setting(
    kinds.oneOf('token', 'cluster'),
    '`token`: `console.token` opens everything; `cluster`: readers present a token of the cluster and see namespaces whose EndpointSlices it may list',
    { flag: '--console-authorization-mode <mode>', default: 'token' },
  ),
  'console.tls.cert': setting(text, 'certificate of a console in PEM; required unless it listens on loopback', {
    flag: '--console-tls-cert-file <file>',
    ...pem,
  }),
  'console.tls.key': setting(text, 'key of that certificate in PEM', {
    flag: '--console-tls-key-file <file>',
    ...secret,
  }),
  'console.maxBytes': setting(kinds.size, 'maximum size of the history of a console', { default: 128 * 1024 ** 2 }),
  'console.maxServices': setting(
    integer(1, 10_000_000),
    'maximum number of Services with a history in a console; further ones are only joined over all clusters',
    { default: 50_000 },
  ),
  'console.retention': setting(age, 'maximum age of that history, within the retention of the bus', {
    default: 86_400_000,
  }),
  'console.lostClusters': setting(
    kinds.oneOf('keep', 'age-out', 'drop'),
    'how long the last known endpoints of a cluster that does not answer count, over all clusters: always, for `console.lostClusterMaxAge`, or not at all',
    { default: 'age-out' },
  ),
  'console.lostClusterMaxAge': setting(age, 'how long they count with `age-out`', { default: 600_000 }),
  'console.degradedAfter': setting(
    duration('0s', '24h'),
    'how long a Pod may be not ready before its Service counts as degraded',
    {
      default: 60_000,
    },
  ),
  'console.degradedBelow': setting(kinds.share, 'share of ready endpoints below which a Service counts as degraded', {
    default: 0.5,
  }),
  'console.serviceNameLabel': setting(
    text,
    'label of Services with the name under which all clusters join them, if it differs from their own',
    { example: 'example.com/service' },
  ),
  'console.jaegerUrl': setting(kinds.traceUrl, 'address that a console links traces to; `{traceId}` is replaced', {
    flag: '--jaeger-url <url>',
    example: 'http://127.0.0.1:16686/trace/{traceId}',
  }),
  'console.jaegerQueryUrl': setting(kinds.queryUrl, 'Jaeger query address for the traces a console shows', {
    flag: '--jaeger-query-url <url>',
    example: 'http://127.0.0.1:16686',
  }),
} as const;

export const recordingSettings = {
  'recording.directory': setting(
    kinds.path,
    'directory of the recording; `none`: in memory only; default of `observe`: `sluice/recording` in $XDG_STATE_HOME or ~/.local/state; of `run` and `console`: `none`',
    { flag: '--recording-dir <directory>', example: '/var/lib/sluice/recording' },
  ),
  'recording.maxBytes': setting(kinds.size, 'maximum size of the recording; the oldest files go first', {
    flag: '--recording-max-bytes <size>',
    default: 1024 ** 3,
  }),
  'recording.retention': setting(age, 'maximum age of the recording', {
    flag: '--recording-retention <duration>',
    default: 7 * 86_400_000,
  }),
  'recording.problemsConfig': setting(
    kinds.path,
    'file (YAML) that says which problems of Services count, how severe they are and after which time',
    { flag: '--problems-config <file>', example: '/etc/sluice/problems.yaml' },
  ),
  'recording.webhookUrl': setting(
    text,
    'URL that is sent each problem of a Service but infos, when it begins and when it ends',
    {
      flag: '--problems-webhook-file <file>',
      ...secret,
    },
  ),
} as const;
