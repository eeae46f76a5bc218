import { slicesOf } from '../reference/actual-service.ts';
import { managedByLabel, sliceManager } from '../reference/objects.ts';
import { type SimulatedCluster, steadyNamespace, steadyServices } from '../simulated-cluster.ts';
import type { Violations } from '../violations.ts';
import type { Conditions } from './conditions.ts';

/** A Service whose Pods stay has one set of slices: never two, and never none once it has been written. */
export class SteadyServices {
  readonly #violations: Violations;
  readonly #written = new Set<string>();
  readonly #conditions: Conditions;

  constructor(violations: Violations, conditions: Conditions) {
    this.#violations = violations;
    this.#conditions = conditions;
  }

  watch(cluster: SimulatedCluster): void {
    cluster.server.onCommit((resource, { object }) => {
      if (resource !== 'endpointslices' || object.metadata.namespace !== steadyNamespace) return;
      for (const service of steadyServices) this.#check(cluster, service);
    });
  }

  #check(cluster: SimulatedCluster, service: string): void {
    const slices = slicesOf(cluster.view, steadyNamespace, service);
    const own = slices.filter(({ metadata }) => metadata.labels?.[managedByLabel] === sliceManager);
    const endpoints = own.flatMap((slice) => (slice.endpoints ?? []).map(({ targetRef }) => targetRef?.uid));
    const name = `${cluster.name}/${service}`;
    if (endpoints.length > 0) this.#written.add(name);
    else if (this.#written.has(name) && this.#conditions.hasWholeLists)
      this.#violations.report('steady Services', `${name} has no endpoints`);
    // A store that has forgotten the first set lets a second one exist for a while.
    if (this.#conditions.isIntact && new Set(endpoints).size < endpoints.length)
      this.#violations.report('steady Services', `${name} has endpoints in two slices`);
  }
}
