import type { Rows } from '../check-values.ts';
import { bytes, count, duration, setting, times } from '../source-values.ts';

const settings = 'libs/service-state/src/settings.ts';
const cooldown = 'libs/service-state/src/policy.ts';
const repair = 'libs/service-state/src/controller-state.ts';
const priority = 'services/writer/src/scheduling/request-limit.ts';
const guard = 'services/writer/src/confirmation/mass-change-guard.ts';
const sampling = 'services/writer/src/confirmation/fresh-read.ts';
const claim = 'libs/fleet/src/leader-election/cluster-claim.ts';
const busClaim = 'libs/fleet/src/roles/bus-claim.ts';
const competing = 'libs/fleet/src/leader-election/watch-competing-controller.ts';
const ownership = 'libs/fleet/src/ownership/ownership.ts';
const progress = 'libs/fleet/src/ownership/progress.ts';
const ttl = setting('leases.ttl');
const clusterClaim = duration('libs/fleet/src/leader-election/claim-lease.ts', 'claimDurationMs');
const writerCommit = duration('services/sluice/src/composition/roles/writer-role.ts', 'commitIntervalMs');

export const decisions: Rows = {
  'docs/adr/0006-retries.md': [
    ['up to {} times with jittered', count('services/writer/src/apply/apply-plan.ts', 'defaultRetry.attempts')],
    ['After {} transient failures', count(settings, 'maxAttempts')],
    ['one to {}. A terminating', times(duration(settings, 'parkedRetryMs'), 2)],
  ],
  'docs/adr/0007-own-reflector.md': [
    ['{} of each type', count('libs/kubernetes/src/protobuf/text-table.ts', 'maxMessages')],
  ],
  'docs/adr/0009-loss-detection.md': [
    ['up to {}, with jitter', duration('services/reconciler/src/pending-resyncs.ts', 'backoff.maxMs')],
  ],
  'docs/adr/0012-redis-store.md': [
    ['or {} records at the latest', count('services/reconciler/src/partition-worker.ts', 'recordsPerCommit')],
    [
      'after {}, or when there are {}.',
      writerCommit,
      count('services/writer/src/partition/plan-checkpoint.ts', 'plansPerCommit'),
    ],
  ],
  'docs/adr/0013-jetstream.md': [['every {} records', count('libs/bus/src/jetstream/acks.ts', 'ackEvery')]],
  'docs/adr/0015-leases.md': [['TTL {},', ttl]],
  'docs/adr/0023-write-scheduling.md': [
    ['`--max-writes-in-flight` ({})', setting('writer.maxInFlight')],
    [
      'at most {} requests in flight',
      count('services/sluice/src/composition/writable-cluster.ts', 'maxRequestsInFlight'),
    ],
    [
      '({} per endpoint, {} per request, at most {})',
      duration(priority, 'endpointMs'),
      duration(priority, 'requestMs'),
      duration(priority, 'maxDelayMs'),
    ],
    [
      'beyond {}, at most {}. Endpoints of {} addresses',
      duration(cooldown, 'promptMs'),
      duration(cooldown, 'maxForSlownessMs'),
      count(cooldown, 'minAddresses'),
    ],
    ['pause for {} per address', duration(cooldown, 'msPerAddress')],
    [
      'at most {} for Endpoints, {} for slices',
      duration(priority, 'ofEndpoints.maxMs'),
      duration(priority, 'ofSlices.maxMs'),
    ],
  ],
  'docs/adr/0024-competing-controllers.md': [
    ['up to {}; {} without a repair', duration(repair, 'maxRepairIntervalMs'), duration(repair, 'resetAfterMs')],
    ['are read every {}, otherwise every {}.', duration(competing, 'changeCheckMs'), duration(competing, 'checkMs')],
  ],
  'docs/adr/0025-many-clusters.md': [
    ['completely every {} and', duration('libs/fleet/src/clusters/cluster-set.ts', 'refreshMs')],
    ['and every {}. If it differs', duration('libs/kubernetes/src/middleware/identity-guard.ts', 'recheckMs')],
  ],
  'docs/adr/0026-history-from-the-log.md': [
    ['pieces of about {} with', duration('services/console/src/thread-budget.ts', 'sliceMs')],
  ],
  'docs/adr/0028-messages-by-reference.md': [['at most {}.', bytes('libs/bus/src/bus.ts', 'largestMessageBytes')]],
  'docs/adr/0029-mass-change-guards.md': [
    [
      '`writer.maxRemovalPercent` ({}) of ready endpoints, and more than {} |',
      { ...setting('writer.maxRemovalPercent'), kind: 'count' },
      count(guard, 'floor'),
    ],
    ['threshold within {} |', duration(guard, 'windowMs')],
    ['one plan in {} is checked', count(sampling, 'interval')],
  ],
  'docs/adr/0044-one-decider.md': [
    ['at most {}. The share', duration('libs/service-state/src/policy.ts', 'maxTopologyDelayMs')],
  ],
  'docs/adr/0054-one-writer-per-cluster.md': [
    ['It lasts {} and', clusterClaim],
    ['renewed every {}, on', duration(claim, 'renewMs')],
    [
      'not renewed for {} is',
      {
        kind: 'duration',
        value: Number(clusterClaim.value) - Number(duration(claim, 'renewMs').value) / 2,
        source: `validMs in ${claim}`,
      },
    ],
    ['renews it every {}; it expires after {}.', duration(busClaim, 'renewMs'), duration(busClaim, 'ttlMs')],
  ],
  'docs/adr/0055-lease-thread.md': [
    ['A lease lasts {},', ttl],
    ['After {} without one', duration(ownership, 'maxSilenceMs')],
    ['or after {} without it', duration(ownership, 'maxStartMs')],
    ['for more than {} and less than {} keeps', ttl, duration(ownership, 'maxSilenceMs')],
  ],
  'docs/adr/0070-local-plans.md': [['At most {} records', count('libs/bus/src/lingering-records.ts', 'maxLingering')]],
  'docs/adr/0075-generations-of-partitions.md': [
    ['begins with {} partitions', setting('partitions')],
    ['`sluice run` keeps {},', count('services/sluice/src/composition/all-in-one.ts', 'partitionsInMemory')],
  ],
  'docs/adr/0081-members-without-progress.md': [
    ['another one has been preferred for {}.', duration(progress, 'giveUpMs')],
    ['has been absent for {}.', duration(progress, 'provenMs')],
    ['until answers have arrived for {}.', duration(progress, 'giveUpMs')],
    ['of its share alone for {}, the others', duration(progress, 'acquireWithinMs')],
    ['has held for {} without', duration('libs/fleet/src/ownership/holdings.ts', 'startWithinMs')],
    ['left to others for {}, and', duration(progress, 'lateStartMs')],
    ['probes every {}:', duration('libs/fleet/src/roles/reachability.ts', 'probeIntervalMs')],
    ['{} clusters per second', count('libs/fleet/src/roles/reachability.ts', 'maxProbesPerSecond')],
    ['has answered nothing for {}, or', duration('libs/fleet/src/roles/reachability.ts', 'silentMs.min')],
  ],
};
