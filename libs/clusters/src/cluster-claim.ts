import { hostname } from 'node:os';
import { type Connection, isApiError, type NamespaceScope } from '@sluice/kubernetes';
import { ClusterUnavailableError, dateOf } from '@sluice/preflight';
import { asRecord, asString, type Clock, type JsonRecord, type Logger, sleep } from '@sluice/runtime';
import type { WriteGate } from './write-gate.ts';

/** Who claims a cluster. */
export interface FleetIdentity {
  readonly name: string;
  /**
   * Id of the fleet in its store, the same for all its processes. It differs between fleets of one name with different
   * stores.
   */
  readonly id: () => Promise<string>;
  /** This process is the whole fleet, so it releases its claim when it closes the cluster. */
  readonly releases?: boolean;
}

/** `sluice run`: a fleet of one process, recognised by its host, so that a restart need not wait for its own claim. */
export const processFleet = (): FleetIdentity => ({ name: 'sluice run', id: async () => hostname(), releases: true });

export interface ClusterClaimOptions {
  readonly cluster: string;
  readonly connection: Pick<Connection, 'request'>;
  readonly fleet: FleetIdentity;
  /** The namespaces that the fleet serves. Default: all. */
  readonly namespaces?: NamespaceScope | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The Leases through which fleets claim a cluster (ADR 0054): an instance that serves only listed namespaces (ADR 0056)
 * claims one of its own, because the fleet that excludes them writes to the same cluster.
 */
export const claimLeases = { namespace: 'kube-system', all: 'sluice', listed: 'sluice-namespaces' } as const;
const collection = `/apis/coordination.k8s.io/v1/namespaces/${claimLeases.namespace}/leases`;
const leaseName = (namespaces: NamespaceScope | undefined): string =>
  namespaces?.only === undefined ? claimLeases.all : claimLeases.listed;
/** As kube-controller-manager's leader election. All times are the API server's. */
const durationMs = 15_000;
const renewMs = 5_000;

/**
 * Claims the cluster for this fleet. Without permission for the Lease, the cluster is served unclaimed, with a warning.
 *
 * @throws ClusterUnavailableError if another fleet has claimed it
 */
export async function claimCluster(options: ClusterClaimOptions, signal: AbortSignal): Promise<void> {
  const { cluster, logger } = options;
  try {
    const holder = await renewClaim(options, signal);
    if (holder !== undefined) throw new ClusterUnavailableError('claimed', refusalOf(options, holder));
  } catch (error) {
    if (!isApiError(error)) throw error;
    // Only servers that are no Kubernetes, such as the fake one, have no Leases.
    if (error.status === 404 || error.status === 405) return;
    logger.warn('cannot claim the cluster; another fleet on it stays undetected', { cluster, reason: error.message });
  }
}

/** Renews the claim until `signal` aborts. Pauses writes while another fleet has it. */
export async function keepClaim(
  options: ClusterClaimOptions & { readonly gate: WriteGate },
  signal: AbortSignal,
): Promise<void> {
  const { cluster, gate, clock, logger } = options;
  while (!signal.aborted) {
    await sleep(clock, renewMs, signal);
    if (signal.aborted) return;
    try {
      const holder = await renewClaim(options, signal);
      const reason = holder === undefined ? undefined : refusalOf(options, holder);
      if (!gate.set('claimedByOtherFleet', reason)) continue;
      if (reason !== undefined)
        logger.error('pausing writes; another fleet has claimed the cluster', { cluster, reason });
      else logger.info('resuming writes; the cluster is claimed by this fleet again', { cluster });
    } catch (error) {
      if (signal.aborted) return;
      logger.debug('cannot renew the claim of the cluster', { cluster, error });
    }
  }
}

/** Releases the claim if this fleet has it, so that another need not wait for its expiry. Best effort. */
export async function releaseClaim(
  { connection, fleet, namespaces, logger }: ClusterClaimOptions,
  signal: AbortSignal,
): Promise<void> {
  const path = `${collection}/${leaseName(namespaces)}`;
  try {
    const lease = asRecord((await connection.request({ method: 'GET', path, signal })).body);
    if (holderOf(lease) !== (await holderName(fleet))) return;
    const spec = { ...asRecord(lease.spec), holderIdentity: '', leaseDurationSeconds: 1 };
    await connection.request({ method: 'PUT', path, body: { ...lease, spec }, signal });
  } catch (error) {
    logger.debug('cannot release the claim of the cluster', { error });
  }
}

/** Returns undefined if this fleet has the claim now, and otherwise its holder. */
async function renewClaim(
  { connection, fleet, namespaces, clock }: ClusterClaimOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const name = leaseName(namespaces);
  const path = `${collection}/${name}`;
  const own = await holderName(fleet);
  const spec = (now: number) => ({
    holderIdentity: own,
    leaseDurationSeconds: durationMs / 1000,
    renewTime: microTime(now),
  });
  for (let attempt = 0; ; attempt++) {
    try {
      const answer = await connection.request({ method: 'GET', path, signal });
      const lease = asRecord(answer.body);
      const now = dateOf(answer) ?? clock.now();
      const holder = holderOf(lease);
      if (holder !== '' && holder !== own && !hasExpired(lease, now)) return holder;
      // Every writer of the fleet renews; the others see a fresh renewal and do nothing.
      if (holder === own && now - renewedAt(lease) < renewMs / 2) return undefined;
      const acquired = holder === own ? {} : { acquireTime: microTime(now) };
      const body = { ...lease, spec: { ...asRecord(lease.spec), ...spec(now), ...acquired } };
      await connection.request({ method: 'PUT', path, body, signal });
      return undefined;
    } catch (error) {
      if (!isApiError(error) || attempt > 4) throw error;
      if (error.status === 409) continue;
      if (error.status !== 404) throw error;
      try {
        const body = {
          ...{
            apiVersion: 'coordination.k8s.io/v1',
            kind: 'Lease',
            metadata: { namespace: claimLeases.namespace, name },
          },
          spec: { ...spec(clock.now()), acquireTime: microTime(clock.now()) },
        };
        await connection.request({ method: 'POST', path: collection, body, signal });
        return undefined;
      } catch (failure) {
        if (!isApiError(failure) || failure.status !== 409) throw failure;
      }
    }
  }
}

const holderName = async (fleet: FleetIdentity): Promise<string> => `${fleet.name}/${await fleet.id()}`;
const holderOf = (lease: JsonRecord): string => asString(asRecord(lease.spec).holderIdentity);
const renewedAt = (lease: JsonRecord): number => Date.parse(asString(asRecord(lease.spec).renewTime)) || 0;
const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');

function hasExpired(lease: JsonRecord, now: number): boolean {
  const { leaseDurationSeconds } = asRecord(lease.spec);
  const seconds = typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds : durationMs / 1000;
  return renewedAt(lease) + seconds * 1000 < now;
}

function refusalOf({ cluster, namespaces }: ClusterClaimOptions, holder: string): string {
  const [name, id] = holder.split('/');
  return `cluster ${cluster} is claimed by the fleet "${name}" (id ${id}) through the Lease ${claimLeases.namespace}/${leaseName(namespaces)}; stop that fleet, or serve the cluster with it. A claim expires ${durationMs / 1000} s after its last renewal`;
}
