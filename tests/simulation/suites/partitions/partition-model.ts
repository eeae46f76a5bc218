import type { OwnLeases } from '../../invariants/own-leases.ts';
import type { Violations } from '../../violations.ts';

/** A process as the model knows it. */
export interface ModelledProcess {
  readonly name: string;
  /** Its name and its group in the generation in which it works; undefined: it is about to start. */
  readonly membership: Membership | undefined;
  /** Since when only its event loop is blocked, while its lease thread reaches the store; undefined: that is not so. */
  readonly renewedByThreadSince: number | undefined;
}

export interface Membership {
  readonly member: string;
  readonly group: string;
  readonly generation: number;
}

/** Shorter than a lease thread renews the leases of a blocked event loop, with latencies, in milliseconds. */
const keptForMs = 13_000;

/**
 * What leases and generations of partitions must do: each write leaves under a lease that its sender holds by its own clock, nobody
 * else believes in a lease of that partition, no generation works after a later one, and a member whose event loop is blocked
 * keeps its leases for a while.
 */
export class PartitionModel {
  readonly #violations: Violations;
  readonly #now: () => number;
  readonly #own: OwnLeases;
  #generation = 0;

  constructor(violations: Violations, now: () => number, own: OwnLeases) {
    this.#violations = violations;
    this.#now = now;
    this.#own = own;
  }

  /** The bytes of a write for a partition leave the process. */
  sent(process: string, { member, group, generation }: Membership, partition: string, all: Iterable<ModelledProcess>) {
    const what = `${process} sends a write for partition ${partition} of generation ${generation}`;
    const refusal = this.#own.refusal(group, member, partition);
    if (refusal !== undefined) this.#violations.report('no byte after the deadline', `${what} ${refusal}`);
    if (generation < this.#generation)
      this.#violations.report('one generation', `${what} after writes of generation ${this.#generation}`);
    this.#generation = Math.max(this.#generation, generation);
    for (const { name, membership, renewedByThreadSince: since } of all) {
      if (name === process || membership === undefined) continue;
      if (membership.generation !== generation) continue;
      if (this.#own.refusal(membership.group, membership.member, partition) === undefined)
        this.#violations.report('one owner', `${what}, whose lease ${name} holds`);
      const isKept = since !== undefined && this.#now() - since < keptForMs;
      if (isKept && this.#own.holds(membership.group, membership.member, partition))
        this.#violations.report('a blocked event loop keeps leases', `${what}, which ${name} had`);
    }
  }
}
