import type { Rows } from '../check-values.ts';
import { bytes, count, duration, seconds, setting, share, times, written } from '../source-values.ts';

const demand = 'libs/telemetry/src/replica-demand.ts';
const autoscaler = 'infra/kubernetes/components/autoscaling/autoscaler.yaml';
const slos = 'infra/prometheus/slos.yaml';
const credentials = duration('libs/kubernetes/src/credentials.ts', 'evaluateEveryMs');
const scan = duration('services/watcher/src/compactor.ts', 'scanPeriodMs');
const latency = written('duration', slos, /_bucket\{le=~"(1)\|/, 1_000);
const silent = written('count', slos, /sluice_watch_idle_seconds > bool (\d+)/);
const inProgress = /workqueue_longest_running_processor_seconds\S* > bool (\d+)/;
const windows = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'].map((window) => {
  const unit = window.slice(-1);
  return written(
    'duration',
    slos,
    new RegExp(`latency_errors:ratio(${Number.parseInt(window, 10)})${unit}\\b`),
    { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit],
  );
});
const burn = (rate: RegExp) => written('count', slos, rate);

export const operations: Rows = {
  'docs/operations/autoscaling.md': [
    ['{} of it is one replica', share(demand, 'targetUtilization')],
    ['once {} are not enough', share(demand, 'targetUtilization')],
    ['work it off within {}.', seconds(demand, 'drainSeconds')],
    ['`minReplicas` is {},', written('count', autoscaler, /minReplicas: (\d+)/)],
    ['than partitions ({})', setting('partitions')],
    ['grows after {} of load', written('duration', autoscaler, /scaleUp: \{ stabilizationWindowSeconds: (\d+)/, 1_000)],
    ['after {} of less', written('duration', autoscaler, /scaleDown: \{ stabilizationWindowSeconds: (\d+)/, 1_000)],
  ],
  'docs/operations/backup.md': [],
  'docs/operations/configuration.md': [
    ['well: every {},', credentials],
    [
      'again every {}; another token',
      duration('services/sluice/src/composition/roles/reread-console.ts', 'intervalMs'),
    ],
    ['(`500ms`, `1m30s`), sizes as in Kubernetes (`64Mi`)', 'examples'],
  ],
  'docs/operations/doctor.md': [
    ['Exit status 0, or 1 if', 'docs/reference/cli.md has the generated table'],
    ['limited to less than {},', bytes('services/sluice/src/cli/doctor/check-infrastructure.ts', 'ampleMessageBytes')],
    [
      'fails before Kubernetes 1.{};',
      written('count', 'libs/kubernetes/src/preflight/server-version.ts', /minor >= (\d+)/),
    ],
    ['more than {} apart', duration('libs/kubernetes/src/preflight/check-cluster.ts', 'skewMs')],
    ['in the last {}.', duration('libs/kubernetes/src/preflight/competing-controller.ts', 'recentMs')],
    ['waits up to {} for', duration('libs/kubernetes/src/preflight/probe-controllers.ts', 'waitMs')],
  ],
  'docs/operations/logs.md': [
    [
      'at most {} times in {} for each cluster',
      count('libs/platform/src/process/line-limit.ts', 'maxLines'),
      duration('libs/platform/src/process/line-limit.ts', 'windowMs'),
    ],
  ],
  'docs/operations/monitoring.md': [
    ['`/readyz` on `127.0.0.1:{}`', count('libs/platform/src/process/bind-address.ts', 'defaultBindAddress.port')],
    ['blocked for {}, or', duration('libs/telemetry/src/server/event-loop-monitor.ts', 'eventLoopLimitMs')],
    ['heartbeat round for {}.', duration('libs/fleet/src/roles/role-health.ts', 'stuckMs')],
    ['has answered within {} |', duration('libs/telemetry/src/shared-request.ts', 'probeTimeoutMs')],
    [
      'is at most {} lease durations old',
      written('count', 'libs/fleet/src/roles/role-health.ts', /maxAgeMs = (\d) \* leaseTimes/),
    ],
  ],
  'docs/operations/releases.md': [
    ['needs Node {} or newer', written('count', 'infra/release/build.ts', /node: '>=(\d+)'/)],
    ['runs as user {}.', count('infra/release/base-files.ts', 'user.id')],
    ['Before 1.0.0, a minor', 'Semantic Versioning'],
    ['before 1.0.0, in a minor', 'Semantic Versioning'],
    ['and six months.', 'a promise'],
    ['This upgrades three workers {…}', 'measured by the command above'],
    ['| before | {…}', 'measured by the command above'],
    ['a load average of 33', 'measured'],
  ],
  'docs/operations/slos.md': [
    ['| over 30 days |', 'a promise'],
    ['| latency | 99 % of changes are written within {} of the event | 1 % of changes |', latency],
    [
      'staleness | 99.9 % of the time, each watch is alive and no Service is in progress for {} | 43 minutes of 30 days',
      written('duration', slos, inProgress, 1_000),
    ],
    [
      'decision availability | 99.9 % of the time, a process of each role is up and reaches bus and store | 43 minutes of 30 days',
      'the budgets below',
    ],
    ['the share of changes over {},', latency],
    ['of a watch is above {}, or', silent],
    ['or `workqueue_longest_running_processor_seconds` above {}.', written('count', slos, inProgress)],
    ['Each has ratios over {}, {}, {}, {}, {}, {} and {}.', ...windows],
    ['The burn rate is {…}', 'a definition'],
    ['| critical | 1 h and 5 m | {} |', burn(/ratio1h > ([\d.]+)[\s\S]*ratio5m/)],
    ['| critical | 6 h and 30 m | {} |', burn(/ratio6h > ([\d.]+)[\s\S]*ratio30m/)],
    ['| warning | 1 d and 2 h | {} |', burn(/ratio1d > ([\d.]+)[\s\S]*ratio2h/)],
    ['| warning | 3 d and 6 h | {} |', burn(/ratio3d > (?:([\d.]+) \* )?/)],
    ['| severity {…}', 'the rows above; budget = burn rate × window / 30 days'],
    ['the error budget, `{}` or', written('count', slos, /ratio1h > 14\.4 \* (0\.01)/)],
    ['or `{}`, in', written('count', slos, /ratio1h > 14\.4 \* (0\.001)/)],
    ['another latency than {}, choose', latency],
  ],
  'docs/operations/support-bundle.md': [
    ['default `http://127.0.0.1:{}`', count('libs/platform/src/process/bind-address.ts', 'defaultBindAddress.port')],
    ['the last {} of each', bytes('services/sluice/src/cli/support-bundle/bundle-files.ts', 'maxLogBytes')],
  ],
  'docs/operations/watch-traffic.md': [
    ['Every {} the watcher requests', scan],
    ['request follows {} after the start', times(scan, 2)],
    ['off; {} watchers', setting('controllers.sliceWatchers')],
    ['After a scale-down by 70 %, {…}', 'printed by the command that it names'],
    ['| Services × Pods {…}', 'printed by the command above'],
    ['more than {}/s and', times(bytes('libs/service-state/src/adaptive-batch.ts', 'bytesPerMs'), 1_000)],
    ['benchmark with 1,000 watchers; {…}', 'printed by the command above'],
    ['| Pods | changes/s {…}', 'printed by the command above'],
    ['One slice that changes often {…}', 'the table above'],
  ],
};
