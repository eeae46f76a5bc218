import type { Row, Rows } from '../check-values.ts';
import { bytes, count, duration, setting, times, written } from '../source-values.ts';

const alerts = 'infra/prometheus/alerts.yaml';
const slos = 'infra/prometheus/slos.yaml';
const repair = 'libs/service-state/src/controller-state.ts';
const busClaim = 'libs/fleet/src/roles/bus-claim.ts';
const redisCheck = duration('libs/store/src/redis/server-monitor.ts', 'periodMs');
const parkedRetry = duration('libs/service-state/src/settings.ts', 'parkedRetryMs');
const digests = times(
  duration('services/sluice/src/composition/roles/watcher-role.ts', 'digestPeriodMs'),
  Number(count('services/watcher/src/watch-session.ts', 'digestRounds').value),
);

const massChange = (limit: string, metric: RegExp): readonly Row[] => [
  [`more than {} (\`${limit}\`)`, setting(limit)],
  ['within {}, but', duration('services/writer/src/confirmation/mass-change-guard.ts', 'windowMs')],
  ['retried every one to {} and', times(parkedRetry, 2)],
  ['resolves after {}.', written('duration', alerts, metric, 60_000)],
];

export const runbooks: Rows = {
  'docs/operations/runbooks/README.md': [],
  'docs/operations/runbooks/bus-data-loss.md': [
    ['notice within {} and', duration(busClaim, 'renewMs')],
    ['waits up to {} for the claim', duration(busClaim, 'ttlMs')],
  ],
  'docs/operations/runbooks/bus-unavailable.md': [['`JetStream not ready` after {}.', setting('bus.connectWithin')]],
  'docs/operations/runbooks/cluster-identity.md': [
    ['is 1 within a minute', 'an upper bound: clusters are read every 5 s'],
  ],
  'docs/operations/runbooks/cluster-unreachable.md': [
    ['takes over within {} (', duration('tests/one-sided-outages.test.ts', 'takeOverWithinMs')],
    ['bookmarks arrive about once a minute', 'kube-apiserver'],
    ['is below {};', written('count', slos, /sluice_watch_idle_seconds > bool (\d+)/)],
  ],
  'docs/operations/runbooks/competing-controller.md': [
    ['at most once per {}.', duration(repair, 'minRepairIntervalMs')],
    ['up to {}. Changes', duration(repair, 'maxRepairIntervalMs')],
    ['After {} without a repair', duration(repair, 'resetAfterMs')],
    [
      'Writes resume within a minute after',
      'three checks of libs/fleet/src/leader-election/watch-competing-controller.ts',
    ],
  ],
  'docs/operations/runbooks/logical-services.md': [],
  'docs/operations/runbooks/dead-letters.md': [
    ['at most every {}, until', duration('services/reconciler/src/pending-resyncs.ts', 'backoff.maxMs')],
    ['at most {} of dead letters', bytes('libs/store/src/dead-letters.ts', 'maxDeadLetterBytes')],
  ],
  'docs/operations/runbooks/error-budget.md': [
    ['allows take over {} from', written('duration', slos, /_bucket\{le=~"(1)\|/, 1_000)],
    ['received nothing for {}, or', written('duration', slos, /sluice_watch_idle_seconds > bool (\d+)/, 1_000)],
    [
      'for more than {}.',
      written('duration', slos, /workqueue_longest_running_processor_seconds\S* > bool (\d+)/, 1_000),
    ],
  ],
  'docs/operations/runbooks/mass-addition.md': massChange(
    'writer.maxAdditionPercent',
    /sluice_mass_addition_checks_total\S*\[(\d+)m\]/,
  ),
  'docs/operations/runbooks/mass-removal.md': massChange(
    'writer.maxRemovalPercent',
    /sluice_mass_removal_checks_total\S*\[(\d+)m\]/,
  ),
  'docs/operations/runbooks/parked-services.md': [
    ['above 0 for {}.', written('duration', alerts, /sluice_parked_services\) > 0\s+for: (\d+)m/, 60_000)],
    ['after one to {}. Other', times(parkedRetry, 2)],
  ],
  'docs/operations/runbooks/redis-data-loss.md': [
    ['and a second later one line', 'libs/fleet/src/ownership/partition-logger.ts'],
    ['The alert ends within {}.', redisCheck],
  ],
  'docs/operations/runbooks/redis-unavailable.md': [],
  'docs/operations/runbooks/role-down.md': [
    ['when its leases of {} expire', setting('leases.ttl')],
    ['keeps its leases for up to {}.', duration('libs/fleet/src/ownership/ownership.ts', 'maxSilenceMs')],
  ],
  'docs/operations/runbooks/service-problems.md': [
    ...[
      'critical | 30 s',
      'critical | 10 min',
      'warning | 5 min',
      'warning | 30 s',
      'warning | 1 min',
      'warning | 10 min',
      'info | 5 min',
      'info | 10 min',
    ].map((words): Row => [words, 'libs/recording/src/problems/problem-reasons.test.ts compares them']),
    ['warning | {} × | a Pod', count('libs/recording/src/problems/find-problems.ts', 'minChanges')],
    ['warning | {} × | two', count('libs/recording/src/problems/find-problems.ts', 'minOverwrites')],
    ['so often in {}', duration('libs/recording/src/problems/find-problems.ts', 'recentMs')],
  ],
  'docs/operations/runbooks/slow-changes.md': [],
  'docs/operations/runbooks/state-differences.md': [
    ['The {} digest comparison', digests],
    ['constant for {}.', times(digests, 2)],
  ],
  'docs/operations/runbooks/writes-failing.md': [
    ['more than {} of', written('percent', alerts, /sluice_write_requests_total[\s\S]*?> (0\.\d+)/, 100)],
  ],
};
