import type { ServiceDescription, ServiceInCluster } from './describe-service.ts';
import { type ConditionType, conditionTypes } from './terms/index.ts';

export interface ServiceCondition {
  readonly type: ConditionType;
  readonly severity: (typeof conditionTypes)[ConditionType];
  /** Names of the clusters concerned. */
  readonly clusters: readonly string[];
  /** For people. */
  readonly message: string;
}

/** The most severe first. */
export function conditionsOf(service: ServiceDescription): readonly ServiceCondition[] {
  const { endpoints, clusters, differences, missing } = service;
  const expected = clusters.filter((one) => one.counts && one.isComplete && needsEndpoints(one));
  const serving = namesOf(expected.filter(({ endpoints: { ready } }) => ready > 0));
  const isServing = new Set(serving);
  const idle = namesOf(expected).filter((name) => !isServing.has(name));
  const stale = clusters.filter((one) => one.counts && one.lostReason !== null && one.endpoints.ready > 0);
  const lost = namesOf(stale);
  const whyLost = [...new Set(stale.map(({ lostReason }) => lostReason))].join(' or ');
  const having = namesOf(clusters.filter(({ exists }) => exists));
  const differing = differences.filter(({ field }) => field !== 'labels');
  const odd = differing.flatMap(({ values }) => values.slice(1).flatMap((one) => one.clusters));
  const found: Readonly<
    Partial<Record<ConditionType, readonly [clusters: readonly string[], message: string] | false>>
  > = {
    NotServed: serving.length === 0 && idle.length > 0 && [idle, `no ready endpoint in ${listed(idle)}`],
    ServedByOneCluster: serving.length === 1 &&
      having.length > 1 && [serving, `only ${listed(serving)} has ready endpoints (${endpoints.ready})`],
    NoReadyEndpointsInCluster: serving.length > 0 && idle.length > 0 && [idle, `no ready endpoint in ${listed(idle)}`],
    LostClusterCounts: lost.length > 0 && [lost, `last known endpoints of ${listed(lost)} count; ${whyLost}`],
    SpecDiffers: odd.length > 0 && [odd, differing.map(({ field }) => field).join(', ')],
    MissingInCluster: missing.length > 0 && having.length > 0 && [missing, `does not exist in ${listed(missing)}`],
  };
  return types.flatMap((type) => {
    const [names, message] = found[type] || [];
    if (names === undefined || message === undefined) return [];
    return [{ type, severity: conditionTypes[type], clusters: [...new Set(names)].sort(), message }];
  });
}

const types = Object.keys(conditionTypes) as ConditionType[];

/** Not if nobody is meant to serve it: an external name, or neither a selector nor endpoints written by hand. */
export const needsEndpoints = ({ spec, endpoints }: ServiceInCluster): boolean =>
  spec !== null && spec.type !== 'ExternalName' && (spec.selector !== null || endpoints.all > 0);

const namesOf = (clusters: readonly ServiceInCluster[]): readonly string[] => [
  ...new Set(clusters.map(({ clusterName }) => clusterName)),
];

/** Names for people; a thousand clusters are counted. */
function listed(names: readonly string[]): string {
  const [first = '', second = '', third = ''] = names;
  if (names.length > 3) return `${first}, ${second} and ${names.length - 2} others`;
  if (names.length === 3) return `${first}, ${second} and ${third}`;
  return names.length === 2 ? `${first} and ${second}` : first;
}
