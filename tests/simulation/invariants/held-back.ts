import type { LogFields } from '@sluice/platform';
import type { SimulatedCluster } from '../simulated-cluster.ts';

const resources: Readonly<Record<string, string>> = { Pod: 'pods', Service: 'services', Endpoints: 'endpoints' };

/** How far watches and plans are behind a cluster without faults, in milliseconds. */
const behindMs = 5_000;

/** When the last faults have struck a cluster, one while another lasted, and until when they last. */
export interface Disturbance {
  readonly since: number;
  readonly until: number;
}

/** Whether faults and changes explain that a guard has held a plan back. */
export class HeldBack {
  readonly #now: () => number;
  readonly #disturbance: (cluster: string) => Disturbance;
  /** When an object was last written or deleted, by cluster, resource and name; those of a resource are also one. */
  readonly #changedAt = new Map<string, number>();

  constructor(now: () => number, disturbance: (cluster: string) => Disturbance) {
    this.#now = now;
    this.#disturbance = disturbance;
  }

  watch({ name, server }: SimulatedCluster): void {
    server.onCommit((resource, { object }) => {
      this.#changedAt.set(`${name} ${resource}`, this.#now());
      this.#changedAt.set(`${name} ${resource} ${object.metadata.name}`, this.#now());
    });
  }

  isExplained(message: string, { cluster, reason }: LogFields): boolean {
    const [name, why] = [String(cluster), String(reason)];
    const { since, until } = this.#disturbance(name);
    const now = this.#now();
    // Without answers the guard cannot confirm a change.
    if (why.includes('the cluster cannot confirm it: ')) return why.includes('injected') || now <= until;
    // A plan that is decided on late watch events may add what has changed since.
    const lastKnown = (now <= until ? since : now) - behindMs;
    return message.startsWith('additions') && this.#lastChange(name, why) >= lastKnown;
  }

  /** When an object was last changed that contradicts the addition. */
  #lastChange(cluster: string, why: string): number {
    const [, kind = '', name = '', what = ''] = /, but (Pod|Service|Endpoints) (\S+) (.*)$/.exec(why) ?? [];
    const changed = [
      `${cluster} ${resources[kind]} ${name}`,
      ...(what === 'is not selected' ? [`${cluster} services`] : []),
    ];
    return Math.max(...changed.map((one) => this.#changedAt.get(one) ?? Number.NEGATIVE_INFINITY));
  }
}
