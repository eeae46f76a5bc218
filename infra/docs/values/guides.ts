import type { Rows } from '../check-values.ts';
import { bytes, count, duration, setting, share, text, times, written } from '../source-values.ts';

const port = count('libs/platform/src/process/bind-address.ts', 'defaultBindAddress.port');
const busClaim = duration('libs/fleet/src/roles/bus-claim.ts', 'ttlMs');
const clusterClaim = duration('libs/fleet/src/leader-election/claim-lease.ts', 'claimDurationMs');
const election = 'libs/fleet/src/configuration/options/leader-election-options.ts';
const partitions = setting('partitions');
const sizeOfPartition = setting('bus.maxBytes.changes');
const sourcesRead = duration('libs/fleet/src/clusters/cluster-set.ts', 'refreshMs');
const competing = 'libs/fleet/src/leader-election/watch-competing-controller.ts';

export const guides: Rows = {
  'docs/guides/console.md': [
    ['`console.degradedAfter` ({})', setting('console.degradedAfter')],
    ['`console.degradedBelow` ({})', setting('console.degradedBelow')],
    ['took longer than {} went', duration('services/console/src/history/held-by.ts', 'slowWriteMs')],
    ['`took 1.9 s: held {…}', 'an example'],
    ['"why did this endpoint go away at 03:12', 'an example'],
    ['or http://127.0.0.1:{}.', port],
    ['Exit status 1: no answer; 2: invalid arguments', 'docs/reference/cli.md has the generated table'],
    ['Jaeger that is slow ({})', duration('services/console/src/traces/fetch-trace.ts', 'timeoutMs')],
    ['a session of {} in a cookie', duration('services/console/src/http/sessions.ts', 'lifetimeMs')],
    ['`console.retention` ({})', setting('console.retention')],
    ['answers 403, and 503 while', 'statuses of HTTP'],
    ['takes effect within {}, on', duration('services/console/src/access/access-decisions.ts', 'ttlMs')],
    ['stream up to {} later', duration('services/console/src/http/readers.ts', 'checkMs')],
    ['`console.maxBytes` ({};', setting('console.maxBytes')],
    ['`console.maxServices` ({})', setting('console.maxServices')],
    ['{} in `sluice run`)', bytes('services/sluice/src/composition/telemetry/start-console.ts', 'historyBytes')],
  ],
  'docs/guides/fleet.md': [
    ['`--partitions` (default {})', partitions],
    ['takes up to {} more', busClaim],
    [
      'exits, within {}',
      written(
        'duration',
        'infra/kubernetes/components/workers/worker.yaml',
        /terminationGracePeriodSeconds: (\d+)/,
        1_000,
      ),
    ],
    ['when the leases of {} expire', setting('leases.ttl')],
    ['event loop has been blocked for {}', duration('libs/fleet/src/ownership/ownership.ts', 'maxSilenceMs')],
    ['to the others within {}', duration('tests/one-sided-outages.test.ts', 'takeOverWithinMs')],
  ],
  'docs/guides/helm.md': [],
  'docs/guides/high-availability.md': [
    [
      'within {}, because the leader releases',
      duration('libs/fleet/src/leader-election/leader-elector.ts', 'releaseTimeoutMs'),
    ],
    ['after the lease duration ({})', duration(election, 'leaseDurationMs')],
    ['up to about a second |', 'the times below'],
    ['does not reach the API server for {}', duration(election, 'renewDeadlineMs')],
    ['After SIGKILL and SIGSTOP the next leader wrote after {…}', 'measured; the sentence names the page'],
    ['`--leader-elect-lease-duration` | `{}`', duration(election, 'leaseDurationMs')],
    ['`--leader-elect-renew-deadline` | `{}`', duration(election, 'renewDeadlineMs')],
    ['`--leader-elect-retry-period` | `{}`', duration(election, 'retryPeriodMs')],
  ],
  'docs/guides/kafka.md': [
    ['Java {}, Maven', written('count', 'services/sluice/src/cli/commands/run-options.ts', /requires Java (\d+)/)],
    ['Kafka ≥ 3.1 with KRaft', 'Fetch version 13, which needs topic ids'],
    ['tested on {}.', text('infra/local/src/kafka-jars.ts', 'KAFKA_VERSION')],
    ["the fleet's, {} |", partitions],
    ['replication factor | {} |', setting('bus.replicas', 1)],
    ['`min.insync.replicas` | {} |', count('libs/bus/src/kafka/options.ts', 'minInsyncReplicas')],
    ['with 3 replicas, one broker may be down', 'the row above'],
    ['`retention.ms` | {} |', setting('bus.maxAge.changes')],
    ['`retention.bytes` | {} |', sizeOfPartition],
    ['(`requests`: {})', setting('bus.maxBytes.requests')],
    ['`segment.bytes` | {} |', times(sizeOfPartition, 1 / 4)],
    [
      '`max.message.bytes` | {} | {} |',
      setting('bus.maxMessageBytes'),
      bytes('libs/bus/src/kafka/topic-mismatches.ts', 'minMessageBytes'),
    ],
    ['`connections.max.reauth.ms` must exceed 10 s', "kafkajs's reauthenticationThreshold"],
  ],
  'docs/guides/many-clusters.md': [
    ['reads these sources every {} and', sourcesRead],
    ['`console.lostClusterMaxAge` ({});', setting('console.lostClusterMaxAge')],
  ],
  'docs/guides/migrate.md': [
    ['checks every {} whether', duration(competing, 'changeCheckMs')],
    ['Sluice starts within about {}', duration(competing, 'changeCheckMs')],
    ['In `tests/migration.int.test.ts`, {…}', 'measured; the sentence names the test'],
    ['Sluice stops writing within about {}', duration(competing, 'changeCheckMs')],
    ['Kubernetes before 1.36 needs', 'kubeadm'],
  ],
  'docs/guides/nats.md': [
    [
      'one stream for `requests`: {} with',
      { ...times(partitions, 2), value: Number(partitions.value) * 2 + 1, source: '2 × default of partitions + 1' },
    ],
    ['with {} partitions. Readers', partitions],
    ['NATS ≥ 2.{},', written('count', 'libs/bus/src/jetstream/link.ts', /oldestServer = \[2, (14)\]/)],
    ['`jetstream: { sync_interval` | {…}', 'settings of nats-server'],
    ['`max_payload` | {…}', 'settings of nats-server'],
    ['| at least 3 GB |', 'room for the size below'],
    ['maximum size: {} × {} partitions × 2 topics', sizeOfPartition, partitions],
    ['**Memory.** {…}', 'measured on nats-server'],
    ['replicas | {} |', setting('bus.replicas')],
    [
      "use 3 in production; when a stream's leader dies, NATS elects another within 4 to 9 s",
      'measured on nats-server',
    ],
    ['maximum age | {}, `requests` {} |', setting('bus.maxAge.changes'), setting('bus.maxAge.requests')],
    ['maximum size | {}, `requests` {} |', sizeOfPartition, setting('bus.maxBytes.requests')],
    ['duplicate window | {} |', setting('bus.duplicateWindow')],
    ['gives up after {} (`bus.connectWithin`)', setting('bus.connectWithin')],
  ],
  'docs/guides/observe.md': [
    ['`--recording-retention` ({})', setting('recording.retention')],
    ['`--recording-max-bytes` ({})', setting('recording.maxBytes')],
    ['less than {} are free', bytes('services/sluice/src/composition/open-recorder.ts', 'minFreeBytes')],
    [
      'shows it: {}, or `--proxy-delay`',
      duration('services/console/src/view/summarize-drain.ts', 'defaultProxyDelayMs'),
    ],
    ['A crash loses the last {}.', duration('libs/recording/src/recorder.ts', 'flushMs')],
    ['`console.maxBytes` ({})', setting('console.maxBytes')],
    ['`console.retention` ({})', setting('console.retention')],
  ],
  'docs/guides/one-cluster.md': [
    ['it waits up to {} for the claim', clusterClaim],
    ['take-over within two seconds', 'tests/workers.int.test.ts and the page performance'],
  ],
  'docs/guides/redis.md': [
    ['Redis ≥ {}.0', count('libs/store/src/redis/check-server.ts', 'MINIMUM_MAJOR')],
    ['Valkey ≥ 7.2', 'the first version of Valkey'],
    ['when it starts and each {}.', duration('libs/store/src/redis/server-monitor.ts', 'periodMs')],
    ['Redis 7.0 replays', 'a behaviour of Redis'],
  ],
  'docs/guides/repartition.md': [
    ['NATS reserves {} for each', sizeOfPartition],
    ['of a partition: {} for 64', times(sizeOfPartition, 2 * 64)],
    ['for 64.', 'the number of the example'],
    ['**Clean up** {} later', setting('console.retention')],
    ['of the fleet takes, plus two seconds', 'tests/repartition.int.test.ts'],
  ],
  'docs/guides/shadow.md': [
    ['with a summary each {}.', written('duration', 'services/shadow/src/shadow-display.ts', /everyMs: (60_000)/)],
    [
      '`--shadow-grace-period` ({})',
      written(
        'duration',
        'services/sluice/src/cli/commands/run-options.ts',
        /argParser\(durationFlag\)\s*\.default\(([\d_]+)/,
      ),
    ],
    [
      'Every {} the workload pauses',
      written('duration', 'conformance/shadow/run.ts', /checkpoint: positiveNumber\((\d+)/, 1_000),
    ],
    ['A run of 32 minutes on Kubernetes {…}', 'measured by the command above'],
  ],
  'docs/guides/tls.md': [],
  'docs/guides/tracing.md': [
    ['`--trace-ratio` (default {})', share('libs/fleet/src/configuration/settings.ts', 'defaultTraceRatio')],
    ['`--trace-slow` ({})', setting('traces.slow')],
    [
      'Spans are exported in batches, 5 s after the first span of a batch or when 512 wait.',
      "OpenTelemetry's defaults",
    ],
    ['{} spans wait at most', count('libs/telemetry/src/tracing/otlp-tracing.ts', 'maxQueueSize')],
  ],
};
