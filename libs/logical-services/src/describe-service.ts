import type { ServiceState } from '@sluice/service-state';
import { addCounts, countByZone, type EndpointCounts, noEndpoints } from './endpoint-counts.ts';
import type { LogicalService } from './logical-services.ts';
import { type Difference, differencesBetween, type ServiceSpec } from './service-spec.ts';
import type { LostReason } from './terms/index.ts';

/** A cluster of the fleet. */
export interface ClusterStatus {
  readonly identity: string;
  readonly name: string;
  /** Null: it is watched. */
  readonly lost: LostCluster | null;
}

/** Nothing is known of a cluster at present. */
export interface LostCluster {
  /** Up to when its state is known, in milliseconds since the Unix epoch. */
  readonly since: number;
  readonly reason: LostReason;
}

/** What the last known endpoints of a lost cluster count for. */
export interface LostClusterPolicy {
  /**
   * `keep`: they count until the cluster answers again; `age-out`: for `maxAgeMs`; `drop`: not at all. They are shown in each case,
   * with their age.
   */
  readonly action: 'keep' | 'age-out' | 'drop';
  readonly maxAgeMs: number;
}

export interface DescribeOptions {
  readonly clusters: readonly ClusterStatus[];
  readonly policy: LostClusterPolicy;
  readonly now: number;
  /** Identities of clusters that count as if they did not exist. Default: none. */
  readonly without?: ReadonlySet<string>;
}

/** A Service in one cluster. */
export interface ServiceInCluster {
  readonly cluster: string;
  readonly clusterName: string;
  /** Its name in this cluster. Several Services of a cluster may be joined. */
  readonly name: string;
  /** False: the Service does not exist, but slices of it do. */
  readonly exists: boolean;
  /** False: not all that the cluster has of it is known yet. */
  readonly isComplete: boolean;
  /** Age of what is known, in milliseconds; null: the cluster is watched. */
  readonly ageMs: number | null;
  /** Why the cluster is not watched; null: it is. */
  readonly lostReason: LostReason | null;
  /** Whether its endpoints are in the totals. */
  readonly counts: boolean;
  readonly endpoints: EndpointCounts;
  readonly zones: ReadonlyMap<string, EndpointCounts>;
  readonly spec: ServiceSpec | null;
}

export interface ServiceDescription {
  readonly namespace: string;
  readonly name: string;
  /** Of clusters that count. */
  readonly endpoints: EndpointCounts;
  /** Sorted by name of the cluster. */
  readonly clusters: readonly ServiceInCluster[];
  /** Names of watched clusters that do not have it. */
  readonly missing: readonly string[];
  readonly differences: readonly Difference[];
}

/** What is known of a Service in all clusters. */
export function describeService(service: LogicalService, options: DescribeOptions): ServiceDescription {
  const statuses = new Map(options.clusters.map((one) => [one.identity, one]));
  const clusters = [...service.members]
    .map((state) => describeMember(state, statuses.get(state.key.cluster), options))
    .sort((a, b) => compareTexts(a.clusterName, b.clusterName) || compareTexts(a.name, b.name));
  const having = new Set(clusters.filter(({ exists }) => exists).map(({ cluster }) => cluster));
  const specs = clusters.flatMap(({ clusterName, name, spec }) =>
    spec === null ? [] : [[name === service.name ? clusterName : `${clusterName} (${name})`, spec] as const],
  );
  return {
    namespace: service.namespace,
    name: service.name,
    endpoints: clusters.reduce((sum, one) => (one.counts ? addCounts(sum, one.endpoints) : sum), noEndpoints),
    clusters,
    missing: options.clusters
      .filter(({ identity, lost }) => lost === null && !having.has(identity))
      .map(({ name }) => name)
      .sort(),
    differences: differencesBetween(new Map(specs)),
  };
}

function describeMember(
  state: ServiceState,
  status: ClusterStatus | undefined,
  { policy, now, without }: DescribeOptions,
): ServiceInCluster {
  const { cluster, service: name } = state.key;
  const zones = countByZone(state);
  const spec = state.service?.service ?? null;
  const lost = status === undefined ? neverWatched : status.lost;
  const ageMs = lost && Math.max(0, now - lost.since);
  return {
    cluster,
    clusterName: status?.name ?? cluster,
    name,
    exists: spec !== null,
    isComplete: state.snapshot.complete,
    ageMs,
    lostReason: lost?.reason ?? null,
    counts: spec !== null && without?.has(cluster) !== true && isCounted(ageMs, policy),
    endpoints: [...zones.values()].reduce(addCounts, noEndpoints),
    zones,
    spec,
  };
}

const neverWatched: LostCluster = { since: 0, reason: 'not watched' };

function isCounted(ageMs: number | null, { action, maxAgeMs }: LostClusterPolicy): boolean {
  if (ageMs === null || action === 'keep') return true;
  return action === 'age-out' && ageMs < maxAgeMs;
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
