import {
  type ApiError,
  type ClusterRequest,
  type Connection,
  isApiError,
  isWrite,
  LeaseClient,
  leaseRecord,
  type NamespaceScope,
  newLease,
  type RequestCheck,
  renewed,
} from '@sluice/kubernetes';
import { ClusterUnavailableError, unavailable } from '@sluice/kubernetes/preflight';
import {
  asRecord,
  type Clock,
  elapsedMs,
  errorMessage,
  type Instant,
  instant,
  type Logger,
  orAborted,
  sleep,
} from '@sluice/platform';
import { printableLine } from '@sluice/platform/process';
import { type Claim, claimDurationMs, claimOf, claimPath, describeHolder, holderName } from './claim-lease.ts';
import { notSent, type WriteGate } from './write-gate.ts';

/** Who claims a cluster. */
export interface FleetIdentity {
  readonly name: string;
  /**
   * The same for all processes of the fleet, and different for fleets of one name. A fleet of one process has a new id
   * with each start. A fleet whose store loses its data may get a new id while its processes run.
   */
  readonly id: () => Promise<string>;
  /** This process is the whole fleet, so it releases its claim when it stops to serve the cluster. */
  readonly releases?: boolean;
}

interface ClusterClaimOptions {
  readonly cluster: string;
  readonly connection: Pick<Connection, 'server' | 'request'>;
  /** Whether the same cluster as before still answers. */
  readonly isSameCluster: (signal: AbortSignal) => Promise<boolean>;
  readonly fleet: FleetIdentity;
  /** The namespaces that the fleet serves. Default: all. */
  readonly namespaces?: NamespaceScope | undefined;
  /** Serves the cluster unclaimed if the permissions for the Lease are missing. */
  readonly takeOver?: boolean | undefined;
  readonly gate: WriteGate;
  readonly clock: Clock;
  readonly logger: Logger;
}

const renewMs = 5_000;
/** How often a claim of another fleet is read at the start. */
const pollMs = 1_000;
/** A claim that was not renewed for this long is of no fleet that still writes, whatever its times say. */
const abandonedMs = claimDurationMs + renewMs;
/** A claim whose last renewal is older than this may expire before the next one. */
const validMs = claimDurationMs - renewMs / 2;

/** Whether a claim is as a renewal leaves it, and lasts as long as this process will count on it. Somebody may have edited the Lease. */
function isFresh({ expiresAt }: Claim, now: number): boolean {
  const leftMs = expiresAt - now;
  return leftMs > validMs && leftMs <= claimDurationMs;
}

/** The claim of one fleet to one cluster, while this process writes to it (ADR 0054). */
export class ClusterClaim implements RequestCheck {
  readonly #options: ClusterClaimOptions;
  readonly #lease: LeaseClient;
  /** Holders that this fleet was under all its ids since the process started. */
  readonly #ownNames = new Set<string>();
  /** When the last successful renewal was sent. */
  #renewedAt: Instant | undefined;
  /** The claim of another fleet as it was read last, and since when it has not changed. */
  #other: { readonly seen: string; readonly since: number } | undefined;
  /** The cluster is served unclaimed. */
  #isUnclaimed = false;
  #renewing: Promise<Claim | undefined> | undefined;
  /** `metadata.uid` of the claimed Lease: the address may lead to another cluster later. */
  #uid = '';

  constructor(options: ClusterClaimOptions) {
    this.#options = options;
    this.#lease = new LeaseClient(options.connection, claimPath(options.namespaces));
  }

  /**
   * Claims the cluster. If another fleet has the claim, waits until that fleet renews it, which shows that it runs, or
   * until the claim expires.
   *
   * @throws ClusterUnavailableError if another fleet runs, or the cluster cannot be claimed
   */
  async acquire(signal: AbortSignal): Promise<void> {
    const { cluster, clock, logger } = this.#options;
    try {
      const first = await this.#renew(signal, { isVerified: true });
      if (first === undefined) return;
      logger.info('cluster is claimed; waiting for the next renewal or the expiry of the claim', {
        cluster,
        holder: printableLine(first.holder),
      });
      for (;;) {
        await sleep(clock, pollMs, signal);
        signal.throwIfAborted();
        const other = await this.#renew(signal);
        if (other === undefined) return;
        const isAlive = other.holder !== first.holder || other.renewedAt !== first.renewedAt;
        if (isAlive) throw new ClusterUnavailableError('claimed', this.#refusal(other.holder));
      }
    } catch (error) {
      if (!isApiError(error)) throw error;
      await this.#withoutClaim(error, signal);
    }
  }

  /** Renews the claim until `signal` aborts. Pauses writes while another fleet has it. */
  async keep(signal: AbortSignal): Promise<void> {
    const { cluster, clock, logger } = this.#options;
    while (!signal.aborted && !this.#isUnclaimed) {
      await sleep(clock, renewMs, signal);
      if (signal.aborted) return;
      try {
        this.#observe(await this.#renew(signal));
      } catch (error) {
        if (signal.aborted) return;
        // The API server or the store that keeps the id of the fleet may be unreachable for any length of time.
        logger.debug('cannot renew the claim of the cluster', { cluster, error });
        if (isApiError(error) && this.#mayHaveExpired()) this.#pauseIfForbidden(error);
      }
    }
  }

  /** Releases the claim if this fleet has it, so that another need not wait for its expiry. Best effort. */
  async release(timeoutMs: number): Promise<void> {
    const { cluster, logger } = this.#options;
    if (this.#uid === '') return;
    try {
      await this.#lease.release(({ holder, uid }) => uid === this.#uid && this.#ownNames.has(holder), timeoutMs);
    } catch (error) {
      logger.debug('cannot release the claim of the cluster', { cluster, error });
    }
  }

  /** Renews a claim that may have expired before a write passes, for example after the API server was unreachable. */
  verify(request: ClusterRequest): Promise<void> | undefined {
    return this.#isDue(request) ? this.#renewBefore(request) : undefined;
  }

  /** The next attempt renews the claim. */
  assert(request: ClusterRequest): void {
    if (!this.#isDue(request)) return;
    throw notSent('WritesPaused', 'the claim of the cluster may have expired');
  }

  #isDue(request: ClusterRequest): boolean {
    return isWrite(request) && this.#options.gate.pausedBecause === undefined && this.#mayHaveExpired();
  }

  async #renewBefore({ signal }: ClusterRequest): Promise<void> {
    // One renewal for all writes that wait for it; closing the connection ends it.
    this.#renewing ??= this.#renew(new AbortController().signal).finally(() => {
      this.#renewing = undefined;
    });
    try {
      const other = await orAborted(this.#renewing, signal);
      if (other !== 'aborted') this.#observe(other);
    } catch (error) {
      if (isApiError(error)) {
        this.#pauseIfForbidden(error);
        if (error.kind === 'retry') throw error;
      }
      const message = `cannot renew the claim of the cluster: ${errorMessage(error)}`;
      throw notSent('WritesPaused', message, { retryAfterMs: renewMs, cause: error });
    }
    signal.throwIfAborted();
  }

  #mayHaveExpired(): boolean {
    if (this.#isUnclaimed) return false;
    // The machine may have been suspended.
    return this.#renewedAt === undefined || elapsedMs(this.#options.clock, this.#renewedAt) >= validMs;
  }

  #observe(other: Claim | undefined): void {
    const { cluster, gate, logger } = this.#options;
    const hadClaim = !gate.set('unclaimed', undefined);
    const reason = other === undefined ? undefined : this.#refusal(other.holder);
    if (!gate.set('claimedByOtherFleet', reason) && hadClaim) return;
    if (reason !== undefined)
      logger.error('pausing writes; another fleet has claimed the cluster', { cluster, reason });
    else logger.info('resuming writes; the cluster is claimed by this fleet again', { cluster });
  }

  #pauseIfForbidden(error: ApiError): void {
    const { cluster, gate, logger } = this.#options;
    if (error.status !== 403) return;
    const reason = this.#missingPermission(error);
    if (gate.set('unclaimed', reason))
      logger.error('pausing writes; the claim of the cluster cannot be renewed', { cluster, reason });
  }

  /** Returns undefined if this fleet has the claim now, and otherwise the claim of another. */
  async #renew(signal: AbortSignal, { isVerified = false } = {}): Promise<Claim | undefined> {
    const { clock } = this.#options;
    // A store that does not answer must not delay a shutdown.
    const own = await orAborted(this.#ownName(), signal);
    signal.throwIfAborted();
    for (let attempt = 0; ; attempt++) {
      const startedAt = instant(clock);
      try {
        const found = await this.#lease.read({ signal });
        if (found === undefined) {
          if (!isVerified) await this.#verify(signal);
          // Without a holder: only the answer to a read tells the API server's time, by which the claim expires.
          await this.#lease.write(newLease(this.#lease.path), { signal });
          continue;
        }
        const now = found.serverTime ?? clock.now();
        const claim = claimOf(found.lease);
        const isFree =
          claim.holder === '' || this.#ownNames.has(claim.holder) || now > claim.expiresAt || this.#isAbandoned(claim);
        if (!isFree) return claim;
        if (claim.uid !== this.#uid && !isVerified) await this.#verify(signal);
        // Every writer of the fleet renews; the others see a fresh renewal and do nothing.
        const isRenewed = claim.holder === own && isFresh(claim, now);
        const body = renewed(found.lease, { holder: own, durationMs: claimDurationMs, now });
        this.#uid = leaseRecord(isRenewed ? found.lease : await this.#lease.write(body, { signal })).uid;
        this.#renewedAt = startedAt;
        return undefined;
      } catch (error) {
        if (!isApiError(error) || error.status !== 409 || attempt > 4) throw error;
      }
    }
  }

  /** Whether no fleet that runs can have this claim: a clock that was wrong may have written an expiry far ahead. */
  #isAbandoned({ holder, renewedAt }: Claim): boolean {
    const { clock } = this.#options;
    const seen = `${renewedAt} ${holder}`;
    if (this.#other?.seen !== seen) this.#other = { seen, since: clock.monotonic() };
    return clock.monotonic() - this.#other.since > abandonedMs;
  }

  /** Another Lease may be of another cluster at this address, which this fleet must neither claim nor write to. */
  async #verify(signal: AbortSignal): Promise<void> {
    if (await this.#options.isSameCluster(signal)) return;
    throw notSent('ClusterReplaced', 'another cluster answers at this address');
  }

  /** @throws ClusterUnavailableError unless the cluster may be served unclaimed */
  async #withoutClaim(error: ApiError, signal: AbortSignal): Promise<void> {
    const { cluster, takeOver, logger } = this.#options;
    const hasLeases = (error.status !== 404 && error.status !== 405) || (await this.#hasLeases(signal));
    if (hasLeases && error.status !== 403) throw unavailable(cluster, error);
    if (hasLeases) {
      const reason = this.#missingPermission(error);
      if (!takeOver) throw new ClusterUnavailableError('forbidden', reason, error);
      logger.warn('serving cluster without a claim; another fleet would go undetected', { cluster, reason });
    }
    this.#isUnclaimed = true;
  }

  /** Only servers that are no Kubernetes, such as the fake one, have no Leases. A proxy without a backend also answers 404. */
  async #hasLeases(signal: AbortSignal): Promise<boolean> {
    try {
      const { kind, groups } = asRecord(
        (await this.#options.connection.request({ method: 'GET', path: '/apis', signal })).body,
      );
      if (kind !== 'APIGroupList' || !Array.isArray(groups)) return true;
      return groups.some((group) => asRecord(group).name === 'coordination.k8s.io');
    } catch (error) {
      if (!isApiError(error)) throw error;
      return true;
    }
  }

  async #ownName(): Promise<string> {
    const { name, id } = this.#options.fleet;
    const own = holderName(name, await id());
    this.#ownNames.add(own);
    return own;
  }

  #refusal(holder: string): string {
    return `cluster ${this.#options.cluster} is claimed by ${printableLine(describeHolder(holder))} through the Lease ${this.#lease.name}; stop that fleet, or serve the cluster with it. A claim expires ${claimDurationMs / 1000} s after its last renewal`;
  }

  #missingPermission({ message }: ApiError): string {
    const { namespace, name } = this.#lease.path;
    return (
      `cannot claim cluster ${this.#options.cluster} for this fleet with the Lease ${this.#lease.name}: ${message}; ` +
      `grant get and update on leases.coordination.k8s.io "${name}" in the namespace ${namespace} and create the Lease with ` +
      '"kubectl apply -f infra/kubernetes/rbac.yaml", or pass --take-over to serve the cluster unclaimed'
    );
  }
}
