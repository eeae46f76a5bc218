import type { InjectedFaults } from '../injected-faults.ts';
import { actualLines, endpointsWithoutService } from '../reference/actual-service.ts';
import type { ClusterView } from '../reference/cluster-view.ts';
import { expectedLines } from '../reference/expected-service.ts';
import { serviceNameLabel } from '../reference/objects.ts';
import type { SimulatedCluster } from '../simulated-cluster.ts';
import { unusableAddress } from '../uncommon-inputs.ts';
import type { Violations } from '../violations.ts';
import type { ForeignWrites } from './foreign-writes.ts';

interface Cached {
  inputs: number;
  outputs: number;
  differences: readonly Difference[];
}

interface Difference {
  readonly service: string;
  readonly lines: readonly string[];
}

/** What is written differs from a recomputation for a limited time only. */
export class Staleness {
  readonly #violations: Violations;
  readonly #maxEndpointsPerSlice: number;
  readonly #foreign: ForeignWrites;
  readonly #faults: InjectedFaults;
  readonly #cached = new Map<SimulatedCluster, Cached>();
  /** Since when a Service has been wrong, by cluster and name. */
  readonly #since = new Map<string, number>();
  /** The longest time a Service has been wrong after the last disturbance, in milliseconds. */
  longestMs = 0;

  constructor(violations: Violations, maxEndpointsPerSlice: number, foreign: ForeignWrites, faults: InjectedFaults) {
    this.#violations = violations;
    this.#maxEndpointsPerSlice = maxEndpointsPerSlice;
    this.#foreign = foreign;
    this.#faults = faults;
  }

  /** `undisturbedSince`: when the last fault ended; in the future while one is active. Returns the number of wrong Services. */
  check(cluster: SimulatedCluster, now: number, undisturbedSince: number, boundMs: number): number {
    // A plan that a loss made Sluice forget may create Endpoints late. The next watcher's sweep deletes them, as upstream (D4).
    const mayLeave = this.#faults.areLossy;
    const differences = this.#differences(cluster).filter(({ lines }) => !(mayLeave && lines.every(isLeft)));
    const wrong = new Set(differences.map(({ service }) => `${cluster.name}/${service}`));
    for (const name of [...this.#since.keys()])
      if (name.startsWith(`${cluster.name}/`) && !wrong.has(name)) this.#since.delete(name);
    for (const { service, lines } of differences) {
      const name = `${cluster.name}/${service}`;
      const since = this.#since.get(name) ?? now;
      this.#since.set(name, since);
      const staleMs = now - Math.max(since, undisturbedSince);
      this.longestMs = Math.max(this.longestMs, staleMs);
      if (staleMs > boundMs + this.#foreign.pauseMs(cluster, service))
        this.#violations.report(
          'bounded staleness',
          `${name} is wrong for ${staleMs} ms: ${lines.slice(0, 3).join('; ')}`,
        );
    }
    return differences.length;
  }

  #differences(cluster: SimulatedCluster): readonly Difference[] {
    const { view } = cluster;
    const cached = this.#cached.get(cluster);
    if (cached !== undefined && cached.inputs === view.inputs && cached.outputs === view.outputs)
      return cached.differences;
    const differences = differencesOf(view, this.#maxEndpointsPerSlice);
    this.#cached.set(cluster, { inputs: view.inputs, outputs: view.outputs, differences });
    return differences;
  }
}

const isLeft = (line: string) => line === `unexpected ${endpointsWithoutService}`;

function differencesOf(view: ClusterView, maxEndpointsPerSlice: number): readonly Difference[] {
  const names = new Set<string>();
  for (const resource of ['services', 'endpoints'] as const)
    for (const { metadata } of view.all(resource)) names.add(`${metadata.namespace}/${metadata.name}`);
  for (const { metadata } of view.all('endpointslices')) {
    const name = metadata.labels?.[serviceNameLabel];
    if (name !== undefined) names.add(`${metadata.namespace}/${name}`);
  }
  return [...names].flatMap((service) => {
    const [namespace = '', name = ''] = service.split('/');
    // While a finalizer holds the deletion of a Service or of Endpoints back, nothing is created for it.
    const isDeleted = (resource: 'services' | 'endpoints') =>
      view.get(resource, namespace, name)?.metadata.deletionTimestamp !== undefined;
    if (isDeleted('services') || isDeleted('endpoints')) return [];
    const expected = expectedLines(view, namespace, name);
    // The API server refuses them.
    if (expected.some((line) => line.includes(unusableAddress))) return [];
    const lines = compare(expected, actualLines(view, namespace, name, maxEndpointsPerSlice));
    return lines.length === 0 ? [] : [{ service, lines }];
  });
}

function compare(expected: readonly string[], actual: readonly string[]): string[] {
  const [wanted, found] = [new Set(expected), new Set(actual)];
  return [
    ...expected.filter((line) => !found.has(line)).map((line) => `missing ${line}`),
    ...actual.filter((line, i) => !wanted.has(line) || actual.indexOf(line) !== i).map((line) => `unexpected ${line}`),
  ];
}
