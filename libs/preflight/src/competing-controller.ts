/** What may show whether another controller still writes what Sluice is about to write. Times are the API server's. */
export interface CompetingControllerEvidence {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** The last writes of others to Endpoints and EndpointSlices that a controller manages, the newest first. */
  readonly writes: readonly ForeignWrite[];
  /** The lease by which one kube-controller-manager leads; null: there is none; undefined: it may not be read. */
  readonly lease: LeaderLease | null | undefined;
  /** Of each running Pod of kube-controller-manager, whether its flags leave one of the three controllers on. */
  readonly pods: readonly { readonly name: string; readonly enabled: boolean }[];
}

export interface ForeignWrite {
  /** As in `managedFields`. */
  readonly manager: string;
  readonly at: number;
  /** `endpointslices shop/web-x7k2p` */
  readonly object: string;
}

export interface LeaderLease {
  readonly holder: string;
  readonly acquiredAt: number;
  readonly renewedAt: number;
  readonly durationMs: number;
}

export interface CompetingControllerVerdict {
  /** `unknown`: the evidence shows neither activity nor inactivity. */
  readonly status: 'active' | 'unknown' | 'inactive';
  /** For people. */
  readonly why: string;
}

/** A write that is older than this says nothing any more of who will write next, in milliseconds. */
const recentMs = 5 * 60_000;
/** A leader that is late by this much is no leader any more. */
const lateMs = 15_000;

export const upstreamManager = 'kube-controller-manager';
/** What it is called in `managedFields`: some distributions have it in a program of theirs. */
const upstreamManagers: ReadonlySet<string> = new Set([upstreamManager, 'k3s', 'kubelite', 'hyperkube']);

/** How to switch off what Sluice replaces. */
export const switchOffAdvice =
  'start kube-controller-manager with --controllers=*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller';

/**
 * Whether another controller is alive. What it wrote stays in `managedFields` for good, also where Sluice has adopted a slice
 * without a write, so only what it still does counts: its flags where they can be seen, its lease, and how fresh its last
 * writes are.
 */
export function assessCompetingController({
  now,
  writes,
  lease,
  pods,
}: CompetingControllerEvidence): CompetingControllerVerdict {
  const enabled = pods.find((pod) => pod.enabled);
  if (enabled !== undefined) {
    return { status: 'active', why: `Pod kube-system/${enabled.name} runs with these controllers enabled` };
  }
  const recent = writes.find(({ manager, at }) => upstreamManagers.has(manager) && now - at <= recentMs);
  if (pods.length > 0)
    return { status: 'inactive', why: 'kube-controller-manager runs with these controllers disabled' };
  if (lease === undefined || lease === null) {
    if (recent !== undefined) return active(recent, now);
    const known =
      lease === null
        ? 'kube-controller-manager has no leader lease'
        : 'reading the lease of kube-controller-manager is forbidden';
    return {
      status: lease === null ? 'inactive' : 'unknown',
      why: `${known}, and it has not written in the last 5 minutes`,
    };
  }
  const expiredAt = lease.renewedAt + lease.durationMs + lateMs;
  if (expiredAt < now && (recent === undefined || recent.at <= expiredAt)) {
    return {
      status: 'inactive',
      why: `${lease.holder} has not renewed its leader lease for ${ago(lease.renewedAt, now)}`,
    };
  }
  if (recent !== undefined && recent.at >= lease.acquiredAt) return active(recent, now);
  return {
    status: 'unknown',
    why: `kube-controller-manager is active (${lease.holder}) but has not written recently: its controllers appear to be disabled`,
  };
}

/** What others than kube-controller-manager wrote of late to objects that Sluice keeps, the newest first, in words. */
export function otherFieldManagers({
  now,
  writes,
}: Pick<CompetingControllerEvidence, 'now' | 'writes'>): readonly string[] {
  const recent = writes.filter(({ manager, at }) => !upstreamManagers.has(manager) && now - at <= recentMs);
  return recent.map(({ manager, object, at }) => `${manager} wrote ${object} ${ago(at, now)} ago`);
}

function active({ manager, object, at }: ForeignWrite, now: number): CompetingControllerVerdict {
  return { status: 'active', why: `${manager} wrote ${object} ${ago(at, now)} ago` };
}

function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
