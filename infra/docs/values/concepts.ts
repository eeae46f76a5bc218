import type { Rows } from '../check-values.ts';
import { count, duration, seconds, setting, times, written } from '../source-values.ts';

const watcherRole = 'services/sluice/src/composition/roles/watcher-role.ts';
const reconcilerRole = 'services/sluice/src/composition/roles/reconciler-role.ts';
const client = 'libs/kubernetes/src/http-cluster.ts';
const retryDelay = 'libs/kubernetes/src/status.ts';
const settings = 'libs/service-state/src/settings.ts';
const saturated = 'services/writer/src/scheduling/request-limit.ts';
const topologyDelay = 'libs/service-state/src/policy.ts';

/** Each minute, a watcher publishes the digests of one Service in `digestRounds`. */
const digestPeriod = duration(watcherRole, 'digestPeriodMs');
const allDigests = times(digestPeriod, Number(count('services/watcher/src/watch-session.ts', 'digestRounds').value));
const parkedRetry = duration(settings, 'parkedRetryMs');

export const concepts: Rows = {
  'docs/concepts/architecture.md': [],
  'docs/concepts/comparison.md': [
    ['| {} in SQLite files', setting('recording.retention')],
    ['As of September 2026', 'a date'],
    ['every 30 s', 'of k8shark'],
    ['14 days', 'of Sloop'],
  ],
  'docs/concepts/data-flow.md': [
    ['`changes` | {} |', setting('partitions')],
    ['`mutations` | {} |', setting('partitions')],
    ['its lease expires after {}', setting('leases.ttl')],
    ["the watcher's sequence, at the latest within {}", digestPeriod],
    ['the {} digest comparison', allDigests],
  ],
  'docs/concepts/one-change.md': [['{…}', 'messages, compared by tests/one-change.test.ts']],
  'docs/concepts/watcher.md': [
    ['lists in pages of {} without', count('libs/kubernetes/src/reflector.ts', 'pageSize')],
    [
      'time out after {} to {}, at random',
      written('duration', client, /random, (\d+), \d+\)/, 1_000),
      written('duration', client, /random, \d+, (\d+)\)/, 1_000),
    ],
    ['After {} of silence', written('duration', client, /watchIdleMs \?\? ([\d_]+)/)],
    ['After {} without an event', duration('services/watcher/src/availability-probe.ts', 'maxSilentMs')],
    ['answer within {} the cluster', duration('libs/kubernetes/src/http-cluster.ts', 'pingTimeoutMs')],
    ['then repeats after {};', duration('services/watcher/src/availability-probe.ts', 'retryMs')],
    ['resourceVersions, at most {} old', duration('services/watcher/src/watch-session.ts', 'checkpointPeriodMs')],
    ['After {} such lists in a row', count('libs/kubernetes/src/resource-version.ts', 'maxStaleLists')],
    ['{} to {} with jitter;', duration(retryDelay, 'transient.baseMs'), duration(retryDelay, 'transient.maxMs')],
    [
      'jitter; {} to {} for errors',
      duration(retryDelay, 'persistent.baseMs'),
      duration(retryDelay, 'persistent.maxMs'),
    ],
    ['Once {}, watcher and reconciler compare', allDigests],
  ],
  'docs/concepts/reconciler.md': [
    ['within {} (', duration(topologyDelay, 'maxTopologyDelayMs')],
    ['at most {} or', duration(reconcilerRole, 'commitIntervalMs')],
    ['or {} records', count('services/reconciler/src/partition-worker.ts', 'recordsPerCommit')],
    ['with backoff, {} to {};', duration(settings, 'backoff.baseMs'), duration(settings, 'backoff.maxMs')],
    ['parked after {} in a row', count(settings, 'maxAttempts')],
    ['after one to {} ([runbook]', times(parkedRetry, 2)],
    ['has arrived for {}.', duration(reconcilerRole, 'probeAfterMs')],
  ],
  'docs/concepts/writer.md': [
    ['`--max-writes-in-flight` (default {})', setting('writer.maxInFlight')],
    [
      'request rate, with a burst of {}',
      written('duration', 'libs/platform/src/token-bucket.ts', /Math\.max\((1), perSecond\)/, 1_000),
    ],
    ['together, with a burst of {}', seconds('services/writer/src/scheduling/retry-limit.ts', 'burstSeconds')],
    ['limit is 10 per controller', 'upstream'],
    [
      'at most {} requests in flight',
      count('services/sluice/src/composition/writable-cluster.ts', 'maxRequestsInFlight'),
    ],
    [
      'up to {} for Endpoints, {} for slices',
      duration(saturated, 'ofEndpoints.maxMs'),
      duration(saturated, 'ofSlices.maxMs'),
    ],
    ['repeated every {};', duration('libs/fleet/src/leader-election/write-permissions.ts', 'reviewMs')],
    ['is sent up to {} times', count('services/writer/src/apply/apply-plan.ts', 'defaultRetry.attempts')],
    ['`--max-removal-percent` ({})', setting('writer.maxRemovalPercent')],
    ['`--max-addition-percent` ({})', setting('writer.maxAdditionPercent')],
    ['ready endpoints within {} and', duration('services/writer/src/confirmation/mass-change-guard.ts', 'windowMs')],
    ['Up to {} endpoints per slice, the default', setting('controllers.maxEndpointsPerSlice')],
  ],
};
