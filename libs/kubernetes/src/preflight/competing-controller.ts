/** Evidence of whether another controller still writes the objects that Sluice writes. Times are the API server's. */
export interface CompetingControllerEvidence {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** The last write of another manager to each sampled Endpoints and EndpointSlice of a controller, newest first. */
  readonly writes: readonly ForeignWrite[];
  /** Permissions without which `writes` is incomplete. */
  readonly missing: readonly string[];
  /** kube-controller-manager's leader lease. `null`: there is none; `undefined`: reading it is forbidden. */
  readonly lease: LeaderLease | null | undefined;
  /** Running Pods of kube-controller-manager. */
  readonly pods: readonly ManagerPod[];
  /** The last write of Sluice to one of these objects; absent if there is none. */
  readonly ownWriteAt?: number;
  /** The controllers to be replaced, of which this is the evidence. Default: all. */
  readonly replaced?: readonly ReplacedController[];
}

export interface ManagerPod {
  readonly name: string;
  /** Whether its flags enable one of the controllers to be replaced. */
  readonly enabled: boolean;
  /** Value of its flag `--controllers`; absent if the flag is not given. */
  readonly controllers?: string;
  /** Its Node; absent if unknown. */
  readonly node?: string;
  /** When its container started, by the clock of the Node; absent if unknown. */
  readonly startedAt?: number;
  /** It leads without an election. */
  readonly leads?: true;
}

export interface ForeignWrite {
  /** As in `managedFields`. */
  readonly manager: string;
  readonly at: number;
  /** `endpointslices shop/web-x7k2p` */
  readonly object: string;
}

export interface LeaderLease {
  /** Empty: the leader released it. */
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
export const recentMs = 5 * 60_000;
/** Grace period after a lease expires, in milliseconds. */
const lateMs = 15_000;

export const upstreamManager = 'kube-controller-manager';
/** Its names in `managedFields`: some distributions embed it in their own binary. */
const upstreamManagers: ReadonlySet<string> = new Set([upstreamManager, 'k3s', 'kubelite', 'hyperkube']);

/** The controllers that Sluice replaces, as kube-controller-manager's flag names them. */
export const replacedControllers = [
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
] as const;
export type ReplacedController = (typeof replacedControllers)[number];
/** What kubeadm passes. Without the last two, `kubeadm join` fails. */
export const kubeadmControllers = '*,bootstrapsigner,tokencleaner';

/**
 * How to disable the controllers that Sluice replaces. Without a visible Pod, the flag's value is unknown, and depends on the
 * distribution.
 */
export function switchOffAdvice(
  { pods, replaced = replacedControllers }: Pick<CompetingControllerEvidence, 'pods' | 'replaced'> = { pods: [] },
): string {
  const pod = pods.find(({ enabled }) => enabled) ?? pods[0];
  if (pod === undefined) {
    const words = replaced.map((name) => `-${name}`).join(',');
    return `add ${words} to --controllers of kube-controller-manager ("sluice migrate check" shows the whole value)`;
  }
  return `start kube-controller-manager with --controllers=${controllersValue(pod.controllers ?? '*', 'off', replaced)}`;
}

/** The value of `--controllers` that switches these controllers on or off and keeps everything else. */
export function controllersValue(
  current: string,
  to: 'on' | 'off',
  replaced: readonly ReplacedController[] = replacedControllers,
): string {
  const names = new Set<string>(replaced.flatMap((name) => [name, ...aliasesOf(name)]));
  const kept = current.split(',').filter((word) => !names.has(word.replace(/^-/, '')));
  return [...kept, ...(to === 'on' ? [] : replaced.map((name) => `-${name}`))].join(',');
}

/** Names of a controller before Kubernetes 1.28, which the flag still accepts. */
export function aliasesOf(controller: ReplacedController): readonly string[] {
  const aliases = {
    'endpoints-controller': ['endpoint'],
    'endpointslice-controller': ['endpointslice'],
    'endpointslice-mirroring-controller': ['endpointslicemirroring'],
  };
  return aliases[controller];
}

/** Whether a field manager is kube-controller-manager, also in a distribution's own binary. */
export const isUpstreamManager = (manager: string): boolean => upstreamManagers.has(manager);

/**
 * Decides whether another controller still writes. `managedFields` keeps old writes forever, also of slices that Sluice
 * adopted unchanged. So only current activity counts: flags of its Pods, its lease, and recent writes. Sluice writes only
 * if the status is `inactive` (ADR 0024).
 */
export function assessCompetingController({
  now,
  writes,
  lease,
  pods,
  missing,
}: CompetingControllerEvidence): CompetingControllerVerdict {
  const enabled = pods.filter((pod) => pod.enabled);
  const leader = enabled.find((pod) => mayLead(pod, { now, pods, lease }));
  if (leader !== undefined) {
    return { status: 'active', why: `Pod kube-system/${leader.name} runs with these controllers enabled` };
  }
  const [standby] = enabled;
  if (standby !== undefined) {
    const why = `Pod kube-system/${standby.name} has these controllers enabled, but does not lead`;
    return { status: 'inactive', why };
  }
  const recent = writes.find(({ manager, at }) => upstreamManagers.has(manager) && now - at <= recentMs);
  if (pods.length > 0)
    return { status: 'inactive', why: 'kube-controller-manager runs with these controllers disabled' };
  const unseen =
    missing.length === 0 ? undefined : `whether it wrote in the last 5 minutes is unknown (${grant(...missing)})`;
  if (lease === undefined || lease === null) {
    if (recent !== undefined) return active(recent, now);
    const known =
      lease === null
        ? 'kube-controller-manager has no leader lease'
        : `reading the lease of kube-controller-manager is forbidden (${grant('get leases.coordination.k8s.io kube-controller-manager in kube-system')})`;
    return {
      status: lease === null && unseen === undefined ? 'inactive' : 'unknown',
      why: `${known}, and ${unseen ?? 'it has not written in the last 5 minutes'}`,
    };
  }
  if (hasExpired(lease, now) && (recent === undefined || recent.at <= expiresAt(lease))) {
    const idle =
      lease.holder === ''
        ? 'the last leader released the lease of kube-controller-manager'
        : `${lease.holder} has not renewed its leader lease for ${ago(lease.renewedAt, now)}`;
    return unseen === undefined
      ? { status: 'inactive', why: idle }
      : { status: 'unknown', why: `${idle}, and ${unseen}` };
  }
  if (recent !== undefined && recent.at >= lease.acquiredAt) return active(recent, now);
  return {
    status: 'unknown',
    why: `kube-controller-manager is active (${lease.holder}) and nothing shows that its endpoint controllers are disabled`,
  };
}

/**
 * Whether a Pod of kube-controller-manager may hold the leader lease, whose holder is named after the host and a random id.
 * False only if a live lease names the Node of one of the Pods, and this Pod is another one or has started since it was acquired.
 */
function mayLead(
  { name, startedAt, leads }: ManagerPod,
  { now, pods, lease }: Pick<CompetingControllerEvidence, 'now' | 'pods' | 'lease'>,
): boolean {
  if (leads || lease === undefined || lease === null || hasExpired(lease, now)) return true;
  const host = lease.holder.replace(/_[^_]*$/, '').toLowerCase();
  const onHost = pods.filter(({ node }) => node?.toLowerCase() === host);
  if (onHost.length === 0) return true;
  if (!onHost.some((pod) => pod.name === name)) return false;
  return startedAt === undefined || lease.acquiredAt >= startedAt;
}

/** Writes have a resolution of one second. */
const expiresAt = ({ holder, renewedAt, durationMs }: LeaderLease): number =>
  renewedAt + (holder === '' ? 1_000 : durationMs + lateMs);

const hasExpired = (lease: LeaderLease, now: number): boolean => expiresAt(lease) < now;

/** Recent writes of managers other than kube-controller-manager, newest first, as text for messages. */
export function otherFieldManagers({
  now,
  writes,
}: Pick<CompetingControllerEvidence, 'now' | 'writes'>): readonly string[] {
  const recent = writes.filter(({ manager, at }) => !upstreamManagers.has(manager) && now - at <= recentMs);
  return recent.map(({ manager, object, at }) => `${manager} wrote ${object} ${ago(at, now)} ago`);
}

const grant = (...permissions: readonly string[]): string =>
  `grant ${permissions.join(' and ')} with "kubectl apply -f infra/kubernetes/rbac.yaml"`;

function active({ manager, object, at }: ForeignWrite, now: number): CompetingControllerVerdict {
  return { status: 'active', why: `${manager} wrote ${object} ${ago(at, now)} ago` };
}

/** How long ago, for messages. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
