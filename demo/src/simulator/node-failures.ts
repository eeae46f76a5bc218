import type { Nodes, SimulatedNode } from './nodes.ts';
import type { Pods } from './pods.ts';
import type { SimulationContext } from './simulation-context.ts';

/** A Node stops responding and its Pods are evicted; then it recovers or is replaced. At random, one Node at a time. */
export class NodeFailures {
  readonly #context: SimulationContext;
  readonly #nodes: Nodes;
  readonly #pods: Pods;
  #active = false;

  constructor(context: SimulationContext, nodes: Nodes, pods: Pods) {
    this.#context = context;
    this.#nodes = nodes;
    this.#pods = pods;
  }

  /** Returns the expected number of activities, or 0 if a Node is already failing. */
  start(): number {
    const node = this.pick();
    if (this.#active || node === undefined) return 0;
    this.#active = true;
    const pods = this.fail(node);
    this.#context.schedule(4000, 8000, () => this.#continue(node));
    return 2 + 6 * pods;
  }

  /** A worker that responds. */
  pick(): SimulatedNode | undefined {
    return this.#context.pick(this.#nodes.workers().filter((one) => one.ready));
  }

  /** The Node stops responding. Returns the number of its Pods. */
  fail(node: SimulatedNode): number {
    const pods = this.#podsOn(node);
    this.#nodes.setReady(node, false);
    for (const pod of pods) this.#pods.setReady(pod, false, `is not ready: ${node.name} does not respond`);
    return pods.length;
  }

  /** Its workloads start other Pods; the evicted ones stay until the Node responds or is removed. */
  evictPods(node: SimulatedNode): void {
    for (const pod of this.#podsOn(node)) this.#pods.terminate(pod, `is evicted from ${node.name}`);
  }

  remove(node: SimulatedNode): void {
    this.#nodes.remove(node);
    for (const pod of this.#podsOn(node)) this.#pods.remove(pod, `is gone with ${node.name}`);
  }

  #continue(node: SimulatedNode): void {
    if (this.#context.chance(0.25)) {
      this.#recover(node);
      return;
    }
    this.evictPods(node);
    this.#context.schedule(5000, 12_000, () => (this.#context.chance(0.6) ? this.#recover(node) : this.#replace(node)));
  }

  #recover(node: SimulatedNode): void {
    this.#active = false;
    this.#nodes.setReady(node, true);
    this.#pods.resume(node);
  }

  #replace(node: SimulatedNode): void {
    this.remove(node);
    this.#context.schedule(4000, 9000, () => {
      this.#active = false;
      this.#nodes.join(node.zone);
    });
  }

  #podsOn(node: SimulatedNode) {
    return this.#pods.all().filter((pod) => pod.node === node);
  }
}
