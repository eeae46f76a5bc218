import type { NamespaceScope } from '@sluice/kubernetes';
import { asRecord, asString, type JsonRecord } from '@sluice/runtime';

/**
 * The Leases through which fleets claim a cluster (ADR 0054): an instance that serves only listed namespaces (ADR 0056)
 * claims one of its own, because the fleet that excludes them writes to the same cluster.
 */
const claimLeases = { namespace: 'kube-system', all: 'sluice', listed: 'sluice-namespaces' } as const;

/** As kube-controller-manager's leader election, in milliseconds. */
export const claimDurationMs = 15_000;

/** What a Lease says about the claim. Times are the API server's, in milliseconds since the Unix epoch. */
export interface Claim {
  /** Empty: nobody. */
  readonly holder: string;
  readonly renewedAt: number;
  readonly expiresAt: number;
  /** `metadata.uid` of the Lease. */
  readonly uid: string;
}

export interface ClaimPath {
  readonly collection: string;
  readonly lease: string;
  readonly namespace: string;
  readonly name: string;
}

/** @param namespaces the namespaces that the fleet serves; undefined: all */
export function claimPath(namespaces: NamespaceScope | undefined): ClaimPath {
  const { namespace } = claimLeases;
  const name = namespaces?.only === undefined ? claimLeases.all : claimLeases.listed;
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  return { collection, lease: `${collection}/${name}`, namespace, name };
}

export function claimOf(lease: JsonRecord): Claim {
  const { holderIdentity, renewTime, leaseDurationSeconds } = asRecord(lease.spec);
  const renewedAt = Date.parse(asString(renewTime)) || 0;
  const durationMs = typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds * 1000 : claimDurationMs;
  const uid = asString(asRecord(lease.metadata).uid);
  return { holder: asString(holderIdentity), renewedAt, expiresAt: renewedAt + durationMs, uid };
}

/** The Lease, claimed or renewed by `holder`. */
export function renewed(lease: JsonRecord, holder: string, now: number): JsonRecord {
  const spec = asRecord(lease.spec);
  const acquireTime = asString(spec.holderIdentity) === holder ? spec.acquireTime : microTime(now);
  const renewal = { holderIdentity: holder, leaseDurationSeconds: claimDurationMs / 1000, renewTime: microTime(now) };
  return { ...lease, spec: { ...spec, ...renewal, acquireTime } };
}

/** The Lease without a holder, as client-go's leader election releases it. */
export function released(lease: JsonRecord): JsonRecord {
  return { ...lease, spec: { ...asRecord(lease.spec), holderIdentity: '', leaseDurationSeconds: 1 } };
}

export function newLease({ namespace, name }: ClaimPath): JsonRecord {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name } };
}

export const holderName = (fleet: string, id: string): string => `${fleet}/${id}`;

/** For messages: name and id of a holder, which may be any text. */
export function describeHolder(holder: string): string {
  const slash = holder.lastIndexOf('/');
  return slash < 0 ? `"${holder}"` : `the fleet "${holder.slice(0, slash)}" (id ${holder.slice(slash + 1)})`;
}

const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
