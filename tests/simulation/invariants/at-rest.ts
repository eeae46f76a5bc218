import { isServiceKey, parseServiceKey } from '@sluice/messages';
import type { SimulatedStore } from '../doubles/simulated-store.ts';
import { type Fleet, leaseTimes } from '../fleet.ts';
import { slicesOf } from '../reference/actual-service.ts';
import type { ClusterView } from '../reference/cluster-view.ts';
import { hasFault, isLossy, type Scenario } from '../scenario.ts';
import type { SimulatedCluster } from '../simulated-cluster.ts';
import type { Violations } from '../violations.ts';
import type { Histories } from './histories.ts';
import type { Observations } from './observations.ts';

/** No member holds more than its fair share. */
export function checkBalance(
  fleet: Fleet,
  observations: Observations,
  partitions: number,
  violations: Violations,
): void {
  for (const role of ['reconciler', 'writer'] as const) {
    const members = fleet.membersOf(role).filter(({ process }) => !process.isCutOff);
    const holders = Array.from({ length: partitions }, (_, i) => observations.lease(role, String(i))?.holder);
    for (const { name } of members) {
      const held = holders.filter((holder) => holder === name).length;
      if (held > Math.ceil(partitions / members.length))
        violations.report('balance', `${name} holds ${held} of ${partitions} partitions; ${members.length} members`);
    }
  }
}

/** What the store keeps of a Service that is gone; undefined if there is nothing. */
export function leftover(store: SimulatedStore, clusters: readonly SimulatedCluster[]): string | undefined {
  for (const scope of store.scopes) {
    if (!scope.startsWith('reconciler/')) continue;
    for (const name of store.entries(scope).keys()) {
      const [key = ''] = name.split('\n');
      if (!isServiceKey(key)) continue;
      if (exists(clusters, key)) continue;
      if (hasUnpublished(store.entries(scope), key) || mayBePublished(store.entries(scope), key)) continue;
      return `${scope} keeps ${name.replace('\n', ' ')} of a Service that is gone`;
    }
  }
  return undefined;
}

/**
 * Whether a slice was deleted before a watcher saw it. Its Service has no further Changes, so it stays until the liveness
 * probe, which takes hours.
 */
function hasUnpublished(entries: ReadonlyMap<string, string>, key: string): boolean {
  return [...entries].some(([name, json]) => name.startsWith(`${key}\nslice/`) && json === '{"stamp":null}');
}

/**
 * Whether only an Outcome has reported the deletion of an object. A watcher that saw neither its creation nor its deletion does not
 * publish the deletion. The state is dropped when its tombstones expire after five minutes, which is after the end of the run.
 */
function mayBePublished(entries: ReadonlyMap<string, string>, key: string): boolean {
  return entries.get(`${key}\ntombstones`)?.includes('"reportedAt":') === true;
}

/** Whether the Service has objects in its cluster, or its cluster is unknown. */
export function exists(clusters: readonly SimulatedCluster[], key: string): boolean {
  const { cluster: identity, namespace, service } = parseServiceKey(key);
  const cluster = clusters.find((one) => one.identity === identity);
  return cluster === undefined || hasObjects(cluster.view, namespace, service);
}

function hasObjects(view: ClusterView, namespace: string, service: string): boolean {
  const isOf = (resource: 'services' | 'endpoints') => view.get(resource, namespace, service) !== undefined;
  return isOf('services') || isOf('endpoints') || slicesOf(view, namespace, service).length > 0;
}

/** Without losses the store is one object for each lease and each checkpoint. */
export function checkHistories(histories: Histories, scenario: Scenario, violations: Violations): void {
  if (isLossy(scenario) || scenario.disabled.includes('fencing')) return;
  const times = { ttlMs: leaseTimes.ttlMs, isSteady: !hasFault(scenario, 'store clock set back') };
  histories.check(times, violations);
}
