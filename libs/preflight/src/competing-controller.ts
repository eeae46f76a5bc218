/** Evidence of whether another controller still writes the objects that Sluice writes. Times are the API server's. */
export interface CompetingControllerEvidence {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** The last write of another manager to each sampled Endpoints and EndpointSlice of a controller, newest first. */
  readonly writes: readonly ForeignWrite[];
  /** kube-controller-manager's leader lease. `null`: there is none; `undefined`: reading it is forbidden. */
  readonly lease: LeaderLease | null | undefined;
  /** Running Pods of kube-controller-manager, and whether their flags enable one of the three controllers. */
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
  /** Reason for the status, for messages. */
  readonly why: string;
}

/** Older writes are no evidence of a running controller, in milliseconds. */
const recentMs = 5 * 60_000;
/** Grace period after a lease expires, in milliseconds. */
const lateMs = 15_000;

export const upstreamManager = 'kube-controller-manager';
/** Its names in `managedFields`: some distributions embed it in their own binary. */
const upstreamManagers: ReadonlySet<string> = new Set([upstreamManager, 'k3s', 'kubelite', 'hyperkube']);

/** How to disable the controllers that Sluice replaces. */
export const switchOffAdvice =
  'start kube-controller-manager with --controllers=*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller';

/**
 * Decides whether another controller still writes. `managedFields` keeps old writes forever, also of slices that Sluice
 * adopted unchanged. So only current activity counts: flags of its Pods, its lease, and recent writes.
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

/** Recent writes of managers other than kube-controller-manager, newest first, as text for messages. */
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
