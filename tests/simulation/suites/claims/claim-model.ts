import type { Violations } from '../../violations.ts';
import type { Server } from './address.ts';

/** How long a fleet writes at most after the last renewal of its claim, in milliseconds. */
const validMs = 12_500;
/** A fleet writes once in this time if it writes at all, in milliseconds. */
export const writesWithinMs = 3_000;

const claimLease = 'sluice';

/** A fleet as the model knows it. */
export interface ModelledFleet {
  readonly name: string;
  /** All holders that it was. */
  readonly holders: ReadonlySet<string>;
  /** The cluster that an operator, or the first contact, has pinned; undefined: whatever comes first. */
  readonly pinned: string | undefined;
}

/**
 * What claims and pins must do: the bytes of a write leave only a fleet that the Lease names, and reach only the cluster that this fleet has pinned.
 * Who edits the Lease of a running fleet takes the claim from it at its next renewal only.
 */
export class ClaimModel {
  readonly #violations: Violations;
  readonly #now: () => number;
  readonly #wroteAt = new Map<ModelledFleet, number>();
  #editedAt = Number.NEGATIVE_INFINITY;

  constructor(violations: Violations, now: () => number) {
    this.#violations = violations;
    this.#now = now;
  }

  /** Somebody else than a fleet has changed the Lease. */
  edited(): void {
    this.#editedAt = this.#now();
  }

  /** The bytes of a write leave the process. */
  sent(fleet: ModelledFleet, process: string, server: Server): void {
    if (this.#now() - this.#editedAt < validMs) return;
    const holder = String(server.leases.spec(claimLease)?.holderIdentity ?? '');
    if (fleet.holders.has(holder)) return;
    this.#violations.report('one fleet', `${process} sends a write while "${holder}" has claimed ${server.identity}`);
  }

  /** A write takes effect. */
  arrived(fleet: ModelledFleet, process: string, meant: string, server: Server): void {
    if (meant !== server.identity)
      this.#violations.report('its own cluster', `a write of ${process} for ${meant} reaches ${server.identity}`);
    if (fleet.pinned !== undefined && fleet.pinned !== server.identity)
      this.#violations.report('its own cluster', `${process} writes to ${server.identity}, pinned is ${fleet.pinned}`);
    this.#wroteAt.set(fleet, this.#now());
  }

  /** Fleets that write at the moment. */
  get writing(): readonly string[] {
    return [...this.#wroteAt].filter(([, at]) => this.#now() - at < writesWithinMs).map(([{ name }]) => name);
  }
}
