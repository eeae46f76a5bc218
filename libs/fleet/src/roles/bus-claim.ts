import type { Bus } from '@sluice/bus';
import { aborted, type Clock, type Logger, orAborted, sleep, untilNextTick } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import type { Lease, Leases } from '@sluice/store';

interface BusClaimOptions {
  readonly fleet: string;
  readonly bus: Pick<Bus, 'beginning'>;
  readonly leases: Pick<Leases, 'heartbeat' | 'state'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const group = 'bus';
const scope = 'bus';
const ttlMs = 15_000;
const renewMs = 5_000;
/** How often a claim for another bus is read at the start. */
const pollMs = 1_000;

/**
 * The claim of a fleet's store for one bus (ADR 0054). All processes of the fleet hold it together, under the identity that
 * the bus has at that moment. So a bus that was created again is claimed once the claim of the former one has expired.
 */
export class BusClaim {
  readonly #options: BusClaimOptions;
  #isForbidden = false;
  /** Monotonic time since which another bus is claimed. */
  #refusedSince: number | undefined;

  constructor(options: BusClaimOptions) {
    this.#options = options;
  }

  /**
   * Claims the bus. If another one is claimed, waits until that claim expires.
   *
   * @throws UsageError if running processes of the fleet use another bus
   */
  async acquire(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted && !(await this.#holds(signal))) await sleep(clock, pollMs, signal);
  }

  /**
   * Renews the claim until `signal` aborts. While bus or store do not answer, it expires.
   *
   * @throws UsageError if running processes of the fleet use another bus
   */
  async keep(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted && !this.#isForbidden) {
      await sleep(clock, untilNextTick(clock, renewMs), signal);
      await this.#holds(signal);
    }
    await aborted(signal);
  }

  /**
   * Checks the claim without changing it, for processes that only observe. What cannot be read is no reason to refuse.
   *
   * @throws UsageError if running processes of the fleet use another bus
   */
  async verify(): Promise<void> {
    const { leases, logger } = this.#options;
    let other: OtherBus | undefined;
    try {
      other = otherThan(await this.#identity(), (await leases.state(group)).leases);
    } catch (error) {
      logger.debug('cannot check the claim of the bus', { error });
    }
    if (other !== undefined) throw this.#refusal(other);
  }

  /** Renews the claim. Returns whether this succeeded. */
  async #holds(signal: AbortSignal): Promise<boolean> {
    const { clock, logger } = this.#options;
    let other: OtherBus | undefined;
    try {
      // A bus that is down does not answer until it is up.
      const renewed = await orAborted(this.#renew(), signal);
      if (renewed === 'aborted') return false;
      other = renewed;
    } catch (error) {
      logger.debug('cannot renew the claim of the bus', { error });
      this.#refusedSince = undefined;
      return false;
    }
    if (other === undefined) {
      this.#refusedSince = undefined;
      return true;
    }
    if (this.#refusedSince === undefined) logger.info('waiting for the claim of another bus to expire', { ...other });
    this.#refusedSince ??= clock.monotonic();
    // Others may not have noticed yet that the bus was created again: their claim expires. A claim of other processes does not.
    if (clock.monotonic() - this.#refusedSince > ttlMs) throw this.#refusal(other);
    return false;
  }

  /** Returns the claim for another bus, if there is one. */
  async #renew(): Promise<OtherBus | undefined> {
    const { leases, logger } = this.#options;
    const identity = await this.#identity();
    try {
      const heartbeat = { group, member: identity, ttlMs, release: [], acquire: [scope] };
      return otherThan(identity, (await leases.heartbeat(heartbeat)).leases);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      this.#isForbidden = true;
      logger.warn('cannot claim the bus; processes of this fleet on another bus would go undetected', { error });
      return undefined;
    }
  }

  /** The stream id of `requests`: every role may read it, and it changes only when the log is created again. */
  async #identity(): Promise<string> {
    return (await this.#options.bus.beginning('requests', 0)).streamId;
  }

  #refusal({ identity, claimed }: OtherBus): UsageError {
    const { fleet } = this.#options;
    return new UsageError(
      `running processes of the fleet "${fleet}" with this store use another bus (${claimed}) than this process ` +
        `(${identity}): pass the bus of that fleet, or another --fleet or --store. To move the fleet to this bus, stop all ` +
        `its processes first; the claim of the former bus expires after ${ttlMs / 1000} s`,
    );
  }
}

interface OtherBus {
  /** Identity of the bus of this process. */
  readonly identity: string;
  readonly claimed: string;
}

function otherThan(identity: string, leases: readonly Lease[]): OtherBus | undefined {
  const claimed = leases.find((lease) => lease.scope === scope)?.holder ?? identity;
  return claimed === identity ? undefined : { identity, claimed };
}

/** The store's user may not use the keys of the claim. */
const isForbidden = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'FORBIDDEN';
