import type { ChangeCost, PartCosts, SizeCost, UnitCosts } from '@sluice/capacity';
import type { MeasuredSize, Part, Size } from './measure-size.ts';

export interface Measurement {
  readonly size: Size;
  readonly measured: MeasuredSize;
}

/**
 * The sizes that give the costs, each with a rate that a worker follows on one core. They enclose the sizes that predictions are
 * compared with. The first four give what clusters, Services and Pods cost: many of them, so that they outweigh the garbage of
 * the changes, which grows with the endpoints of a Service. The last one adds Services with many endpoints.
 */
export const fitted = {
  small: { clusters: 1, services: 10, pods: 5, rate: 20 },
  clusters: { clusters: 150, services: 10, pods: 5, rate: 50 },
  services: { clusters: 20, services: 200, pods: 1, rate: 50 },
  pods: { clusters: 10, services: 100, pods: 40, rate: 50 },
  endpoints: { clusters: 1, services: 100, pods: 100, rate: 50 },
} as const satisfies Readonly<Record<string, Size>>;

export type Fitted = Readonly<Record<keyof typeof fitted, MeasuredSize>>;

/** Unit costs from the measurements of all fitted sizes. */
export function fit(measured: Fitted): UnitCosts {
  const part = (name: Part): PartCosts => ({
    start: sizeCost(measured, ({ start }) => start[name]),
    idle: idleCost(measured, name),
    change: changeCost(measured, ({ change }) => change[name]),
    memory: sizeCost(measured, ({ memory }) => memory[name]),
  });
  const { size, perTraffic } = natsMemory(measured);
  return {
    ...{ worker: part('worker'), nats: { ...part('nats'), memory: size }, redis: part('redis') },
    natsMemoryPerTraffic: perTraffic,
    natsIn: changeCost(measured, ({ change }) => change.natsIn),
    natsOut: changeCost(measured, ({ change }) => change.natsOut),
    writes: measured.clusters.change.writes,
  };
}

/** A cost is never negative, whatever noise says. */
const positive = (value: number): number => Math.max(0, value);

type Name = keyof typeof fitted;

const total = (name: Name) => {
  const { clusters, services, pods } = fitted[name];
  return { clusters, services: clusters * services, pods: clusters * services * pods };
};

function sizeCost(measured: Fitted, of: (one: MeasuredSize) => number): SizeCost {
  const names = ['small', 'clusters', 'services', 'pods'] as const;
  const rows = names.map((name) => {
    const { clusters, services, pods } = total(name);
    return [1, clusters, services, pods, of(measured[name])];
  });
  const [fixed = 0, perCluster = 0, perService = 0, perPod = 0] = solve(rows).map(positive);
  return { fixed, perCluster, perService, perPod };
}

/** NATS holds something for each Service, and the records of the last seconds. */
function natsMemory(measured: Fitted): { readonly size: SizeCost; readonly perTraffic: number } {
  const names = ['small', 'services', 'endpoints'] as const;
  const rows = names.map((name) => {
    const { change, memory } = measured[name];
    return [1, total(name).services, change.natsIn * fitted[name].rate, memory.nats];
  });
  const [fixed = 0, perService = 0, perTraffic = 0] = solve(rows).map(positive);
  return { size: { fixed, perCluster: 0, perService, perPod: 0 }, perTraffic };
}

/** Solves linear equations by elimination. Each row has the coefficients of its unknowns and the right side. */
function solve(equations: readonly (readonly number[])[]): readonly number[] {
  let rows = equations.map((row) => [...row]);
  for (let column = 0; column < rows.length; column++) {
    const pivot = rows.slice(column).sort((a, b) => Math.abs(b[column] ?? 0) - Math.abs(a[column] ?? 0))[0] ?? [];
    const others = rows.filter((row) => row !== pivot);
    rows = [...others.slice(0, column), pivot, ...others.slice(column)].map((row) => {
      if (row === pivot) return row.map((value) => value / (pivot[column] ?? 1));
      const factor = (row[column] ?? 0) / (pivot[column] ?? 1);
      return row.map((value, i) => value - factor * (pivot[i] ?? 0));
    });
  }
  return rows.map((row) => row.at(-1) ?? 0);
}

function idleCost({ small, clusters }: Fitted, name: Part): PartCosts['idle'] {
  const perCluster = positive(
    (clusters.idle[name] - small.idle[name]) / (fitted.clusters.clusters - fitted.small.clusters),
  );
  return { fixed: positive(small.idle[name] - perCluster * fitted.small.clusters), perCluster };
}

/** Least squares over all sizes: their rates and numbers of clusters differ, and each is as noisy as the others. */
function changeCost(measured: Fitted, of: (one: MeasuredSize) => number): ChangeCost {
  const points = (Object.keys(fitted) as Name[]).map((name) => ({ x: fitted[name].pods, y: of(measured[name]) }));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))];
  const covariance = mean(points.map((point) => (point.x - x) * (point.y - y)));
  const perEndpoint = positive(covariance / mean(points.map((point) => (point.x - x) ** 2)));
  return { fixed: positive(y - perEndpoint * x), perEndpoint };
}
