import { type LeasePath, type LeaseRecord, leasePath, leaseRecord, type NamespaceScope } from '@sluice/kubernetes';
import type { JsonRecord } from '@sluice/platform';

/**
 * The Leases through which fleets claim a cluster (ADR 0054): an instance that serves only listed namespaces (ADR 0071)
 * claims one of its own, because the fleet that excludes them writes to the same cluster.
 */
const claimLeases = { namespace: 'kube-system', all: 'sluice', listed: 'sluice-namespaces' } as const;

/** As kube-controller-manager's leader election, in milliseconds. */
export const claimDurationMs = 15_000;

/** What a Lease says about the claim. Times are the API server's, in milliseconds since the Unix epoch. */
export interface Claim extends LeaseRecord {
  readonly expiresAt: number;
}

/** @param namespaces the namespaces that the fleet serves; undefined: all */
export function claimPath(namespaces: NamespaceScope | undefined): LeasePath {
  return leasePath(claimLeases.namespace, namespaces?.only === undefined ? claimLeases.all : claimLeases.listed);
}

export function claimOf(lease: JsonRecord): Claim {
  const record = leaseRecord(lease);
  return { ...record, expiresAt: record.renewedAt + (record.durationMs ?? claimDurationMs) };
}

export const holderName = (fleet: string, id: string): string => `${fleet}/${id}`;

/** For messages: name and id of a holder, which may be any text. */
export function describeHolder(holder: string): string {
  const slash = holder.lastIndexOf('/');
  return slash < 0 ? `"${holder}"` : `the fleet "${holder.slice(0, slash)}" (id ${holder.slice(slash + 1)})`;
}
