import type { Rows } from '../check-values.ts';
import { count, duration, seconds, setting, times, written } from '../source-values.ts';

const topologyDelay = 'libs/service-state/src/policy.ts';
const settings = 'libs/service-state/src/settings.ts';
const repair = 'libs/service-state/src/controller-state.ts';
const guard = duration('services/writer/src/confirmation/mass-change-guard.ts', 'windowMs');
const parkedRetry = duration(settings, 'parkedRetryMs');
const upstream = 'kube-controller-manager';

/** Of the oracle that recorded the vectors. */
export const vectorsVersion = written('text', 'conformance/oracle/go.mod', /k8s\.io\/kubernetes (v\S+)/);

export const reference: Rows = {
  'docs/reference/cli.md': [
    ['fits into terminals of {} columns', written('count', 'services/sluice/src/cli/help.ts', /Math\.max\((\d+),/)],
    ['| status | meaning {…}', 'compared with the code by libs/platform/src/process/exit.test.ts'],
  ],
  'docs/reference/recording.md': [
    ['databases, format {}.', count('libs/recording/src/schema.ts', 'schemaVersion')],
    ['Format {} has more indexes', count('libs/recording/src/schema.ts', 'schemaVersion')],
    ['than format 1, and', 'tests/recording-format/v1'],
    ['after an eighth of the retention', 'minFiles in libs/recording/src/recording-directory.ts'],
    ['`snapshot = 1`', 'libs/recording/src/schema.ts'],
    ['is 1399616873', 'applicationId in libs/recording/src/schema.ts'],
  ],
  'docs/reference/parity.md': [
    ['- **{…}', 'generated from conformance/parity/rules'],
    ['recorded with {},', vectorsVersion],
    ['the resync after 12–24 h', upstream],
    ['decided at once, the others within {} (', duration(topologyDelay, 'maxTopologyDelayMs')],
    ['fails the sync: 16 retries', upstream],
    ['5 ms or 1 s, doubled up to 1000 s (100 s for mirroring), 16 attempts', upstream],
    ['{}, doubled up to {}, with jitter', duration(settings, 'backoff.baseMs'), duration(settings, 'backoff.maxMs')],
    ['others after {} failures in a row', count(settings, 'maxAttempts')],
    ['are retried after one to {} and', times(parkedRetry, 2)],
    ['20 requests per second', upstream],
    ['All retries of a controller together: 10 per second, burst 100', upstream],
    ['a burst of {}; default', seconds('services/writer/src/scheduling/retry-limit.ts', 'burstSeconds')],
    ['logged at info, of Endpoints at verbosity 2', upstream],
    ['is repaired a second later', upstream],
    ['At once, at most once per {}; more', duration(repair, 'minRepairIntervalMs')],
    ['down to once {}, if', duration(repair, 'maxRepairIntervalMs')],
    ['Beyond {} of a cluster within {}, removals', setting('writer.maxRemovalPercent'), guard],
    ['Before 1.35,', upstream],
    ['As since 1.35', upstream],
    ['Before 1.36,', upstream],
  ],
  'docs/reference/metrics.md': [
    ['(the first {} of a plan)', count('libs/messages/src/cause.ts', 'maxCauses')],
    ['has overwritten {} times or more', count(repair, 'freeRepairs')],
    ['bookmarks arrive about once a minute', 'kube-apiserver'],
    ['checked every {} by', duration('services/sluice/src/composition/problem-reporter.ts', 'intervalMs')],
    [
      'counted every {} by',
      duration('services/sluice/src/composition/telemetry/report-logical-services.ts', 'intervalMs'),
    ],
    ['part of the last {} or more', duration('libs/telemetry/src/replica-demand.ts', 'windowMs')],
    ['sampled every {} and', duration('libs/telemetry/src/metrics.ts', 'eventLoopPeriodMs')],
  ],
  'docs/contributing/differential.md': [
    ['Kubernetes {}, seeds 1 to 23: {…}', 'what the run printed, of the release that it ran with'],
  ],
};
