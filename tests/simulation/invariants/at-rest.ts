import { isServiceKey, parseServiceKey } from '@sluice/messages';
import { asRecord } from '@sluice/platform';
import type { SimulatedStore } from '../doubles/simulated-store.ts';
import { type Fleet, leaseTimes } from '../fleet.ts';
import { slicesOf } from '../reference/actual-service.ts';
import type { ClusterView } from '../reference/cluster-view.ts';
import { hasFault, type Scenario } from '../scenario.ts';
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

/** What the store keeps of a Service that is gone. */
export interface Leftover {
  readonly what: string;
  /** When it has to be dropped at the latest, as a time of the process that keeps it; 0: now. */
  readonly until: number;
}

/** How long a watcher may publish an object that only an Outcome has reported deleted, in milliseconds. */
const mayPublishMs = 300_000;

/** What a Service consists of while its watcher may still publish one of its objects: what was decided, and nothing that exists. */
const ofDeleted = /^(?:snapshot|tombstones|orphaned|controller\/[a-z]+(?::triggers)?)$/;

export function leftovers(
  store: SimulatedStore,
  clusters: readonly SimulatedCluster[],
  mayAwaitProbe: (key: string, snapshot: string) => boolean,
): readonly Leftover[] {
  return store.scopes
    .filter((scope) => scope.startsWith('reconciler/'))
    .flatMap((scope) => {
      const kept = Map.groupBy(store.entries(scope), ([name]) => name.split('\n')[0] ?? '');
      return [...kept]
        .filter(([key]) => isServiceKey(key) && !exists(clusters, key))
        .map(([key, entries]) => [key, new Map(entries.map(fieldOf))] as const)
        .filter(([key, fields]) => !mayAwaitProbe(key, fields.get('snapshot') ?? ''))
        .map(([key, fields]) => leftover(`${scope} keeps ${key}`, fields));
    });
}

const fieldOf = ([name, json]: [string, string]): [string, string] => [name.split('\n')[1] ?? '', json];

/** Only an Outcome may have reported the deletion of an object, because its watcher has seen neither its creation nor its deletion. */
function leftover(what: string, fields: ReadonlyMap<string, string>): Leftover {
  const exists = [...fields].filter(
    ([field, json]) => !ofDeleted.test(field) && !(field === 'service' && json.startsWith('{"service":null,')),
  );
  const tombstones: unknown = JSON.parse(fields.get('tombstones') ?? '[]');
  // A fault may have made them unreadable.
  const reported = (Array.isArray(tombstones) ? tombstones : []).flatMap((one) => asRecord(one).reportedAt ?? []);
  const until = Math.max(0, ...reported.map((at) => Number(at) + mayPublishMs));
  return { what: `${what}: ${[...fields.keys()]}`, until: exists.length > 0 ? 0 : until };
}

/** Whether the Service has objects in its cluster. */
export function exists(clusters: readonly SimulatedCluster[], key: string): boolean {
  const { cluster: identity, namespace, service } = parseServiceKey(key);
  const cluster = clusters.find((one) => one.identity === identity);
  return cluster !== undefined && hasObjects(cluster.view, namespace, service);
}

function hasObjects(view: ClusterView, namespace: string, service: string): boolean {
  const isOf = (resource: 'services' | 'endpoints') => view.get(resource, namespace, service) !== undefined;
  return isOf('services') || isOf('endpoints') || slicesOf(view, namespace, service).length > 0;
}

/** Without fencing, former owners commit too. */
export function checkHistories(histories: Histories, scenario: Scenario, violations: Violations): void {
  if (scenario.disabled.includes('fencing')) return;
  const times = { ttlMs: leaseTimes.ttlMs, isSteady: !hasFault(scenario, 'store clock set back') };
  histories.check(times, violations);
}
