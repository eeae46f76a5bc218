import type { Nodes, WorldNode } from './nodes.ts';
import type { Pods } from './pods.ts';
import type { SimulationContext } from './simulation-context.ts';

/** A Node stops responding; its Pods are given up; it returns, or is removed and another takes its place. One at a time. */
export class NodeFailures {
  readonly #stage: SimulationContext;
  readonly #nodes: Nodes;
  readonly #pods: Pods;
  #going = false;

  constructor(stage: SimulationContext, nodes: Nodes, pods: Pods) {
    this.#stage = stage;
    this.#nodes = nodes;
    this.#pods = pods;
  }

  /** How many actions will come of it; 0 if one Node is in trouble already. */
  begin(): number {
    const node = this.#stage.pick(this.#nodes.workers().filter((one) => one.ready));
    if (this.#going || node === undefined) return 0;
    this.#going = true;
    const pods = this.#on(node);
    this.#nodes.setReady(node, false);
    for (const pod of pods) this.#pods.setReady(pod, false, `is not ready: ${node.name} does not respond`);
    this.#stage.later(4000, 8000, () => this.#giveUp(node));
    return 2 + 6 * pods.length;
  }

  #giveUp(node: WorldNode): void {
    if (this.#stage.chance(0.25)) {
      this.#return(node);
      return;
    }
    for (const pod of this.#on(node)) this.#pods.terminate(pod, `is evicted from ${node.name}`);
    this.#stage.later(5000, 12_000, () => (this.#stage.chance(0.6) ? this.#return(node) : this.#replace(node)));
  }

  #return(node: WorldNode): void {
    this.#going = false;
    this.#nodes.setReady(node, true);
    this.#pods.resume(node);
  }

  #replace(node: WorldNode): void {
    this.#nodes.remove(node);
    for (const pod of this.#on(node)) this.#pods.remove(pod, `is gone with ${node.name}`);
    this.#stage.later(4000, 9000, () => {
      this.#going = false;
      this.#nodes.join(node.zone);
    });
  }

  #on(node: WorldNode) {
    return this.#pods.all().filter((pod) => pod.node === node);
  }
}
