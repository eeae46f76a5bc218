import { type Service, structurallyEqual } from '@sluice/model';

/**
 * What is the same in all clusters that serve a Service alike: a Service without its name, UID, creation time and cluster IP. It may be
 * called by another name in each.
 */
export type ServiceSpec = Service;

/** Stands for any cluster IP. */
const someClusterIp = 'set';

export function specOf(service: Service): ServiceSpec {
  const { clusterIP } = service;
  const hasClusterIp = clusterIP !== '' && clusterIP !== 'None';
  return {
    ...service,
    ...{ namespace: '', name: '', uid: '', creationTimestamp: '', deleting: false },
    clusterIP: hasClusterIp ? someClusterIp : clusterIP,
  };
}

/** A field in which a Service differs between clusters. */
export interface Difference {
  readonly field: ComparedField;
  /** From the value of most clusters to that of the fewest. */
  readonly values: readonly DifferingValue[];
}

export interface DifferingValue {
  /** For people. */
  readonly value: string;
  /** Names of the clusters, sorted. */
  readonly clusters: readonly string[];
}

/** Labels often name the cluster or a release, so on their own they say little. */
export type ComparedField = keyof typeof compared;

const compared = {
  type: ({ type, clusterIP }: ServiceSpec) => (clusterIP === 'None' ? 'headless' : type),
  ports: ({ ports }: ServiceSpec) => ports.map(portText).join(', '),
  selector: ({ selector }: ServiceSpec) => (selector === null ? '' : mapText(selector)),
  ipFamilies: ({ ipFamilies }: ServiceSpec) => ipFamilies.join(', '),
  trafficDistribution: ({ trafficDistribution }: ServiceSpec) => trafficDistribution ?? '',
  internalTrafficPolicy: ({ internalTrafficPolicy }: ServiceSpec) => internalTrafficPolicy ?? 'Cluster',
  externalTrafficPolicy: ({ externalTrafficPolicy }: ServiceSpec) => externalTrafficPolicy ?? 'Cluster',
  topologyAnnotations: ({ annotations }: ServiceSpec) => mapText(annotations),
  publishNotReadyAddresses: ({ publishNotReadyAddresses }: ServiceSpec) => String(publishNotReadyAddresses),
  labels: ({ labels }: ServiceSpec) => mapText(labels),
} as const;

/** Fields in which the specs differ. `specs`: by name of the cluster. */
export function differencesBetween(specs: ReadonlyMap<string, ServiceSpec>): readonly Difference[] {
  const distinct = Map.groupBy(specs, ([, spec]) => spec);
  if (distinct.size < 2) return [];
  const fields = Object.keys(compared) as ComparedField[];
  return fields.flatMap((field) => {
    const byValue = new Map<string, string[]>();
    for (const [spec, of] of distinct) {
      const value = compared[field](spec);
      byValue.set(value, [...(byValue.get(value) ?? []), ...of.map(([cluster]) => cluster)]);
    }
    if (byValue.size < 2) return [];
    const values = [...byValue].map(([value, clusters]) => ({ value, clusters: clusters.sort() }));
    return [{ field, values: values.sort((a, b) => b.clusters.length - a.clusters.length) }];
  });
}

function portText({ name, protocol, port, targetPort, appProtocol }: Service['ports'][number]): string {
  const named = name === '' ? `${port}/${protocol}` : `${name} ${port}/${protocol}`;
  return `${named} → ${targetPort}${appProtocol === null ? '' : ` (${appProtocol})`}`;
}

const mapText = (map: Readonly<Record<string, string>>): string =>
  Object.keys(map)
    .sort()
    .map((key) => `${key}=${map[key]}`)
    .join(', ');

/**
 * The last distinct specs of one Service. Equal ones share one object, because a thousand clusters rarely have more than two; if each has
 * its own, a search through all would cost more than it saves.
 */
export class SharedSpecs {
  readonly #specs: ServiceSpec[] = [];

  share(spec: ServiceSpec): ServiceSpec {
    const known = this.#specs.find((one) => structurallyEqual(one, spec));
    if (known !== undefined) return known;
    if (this.#specs.length === maxShared) this.#specs.shift();
    this.#specs.push(spec);
    return spec;
  }
}

const maxShared = 8;
