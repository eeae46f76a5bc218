import type { GroupState, Heartbeat } from '@sluice/store';
import { isLinearizable, type Operation, type SequentialModel } from './linearizability.ts';

/** A heartbeat, or the departure of a member, as that member saw it. All times in milliseconds. */
export interface LeaseRequest {
  readonly member: string;
  /** Undefined: the member leaves. */
  readonly heartbeat: Heartbeat | undefined;
  readonly sentAt: number;
  /** Infinite without an answer. */
  readonly answeredAt: number;
  /** Undefined without an answer, and for a departure. */
  readonly answer: GroupState | undefined;
}

/** What a request says about one scope. */
interface ScopeRequest {
  readonly member: string;
  readonly renews: boolean;
  readonly releases: boolean;
  readonly acquires: boolean;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** Undefined without an answer; null: nobody holds the lease. */
  readonly answer: { readonly holder: string; readonly token: number } | null | undefined;
}

interface Lease {
  readonly holder: string | null;
  /** Undefined if only a request without an answer may have acquired it. */
  readonly token: number | undefined;
  /** The highest known token. */
  readonly lastToken: number;
  /** The last renewal took effect between these two times. */
  readonly renewedAfter: number;
  readonly renewedBefore: number;
  /** The last request took effect no earlier than this. */
  readonly now: number;
}

export interface LeaseTimes {
  readonly ttlMs: number;
  /** Whether the clock by which leases expire is never set. */
  readonly isSteady: boolean;
}

/**
 * Whether the answers about one scope follow from leases that have one holder at a time, expire unless renewed, and get a higher token with
 * each acquisition.
 */
export function areLeasesLinearizable(
  requests: readonly Operation<LeaseRequest>[],
  scope: string,
  times: LeaseTimes,
): boolean {
  const history = requests.map(({ operation, ...order }) => ({ ...order, operation: ofScope(operation, scope) }));
  return isLinearizable(modelOf(times), history);
}

function ofScope({ member, heartbeat, sentAt, answeredAt, answer }: LeaseRequest, scope: string): ScopeRequest {
  const lease = answer?.leases.find((one) => one.scope === scope);
  return {
    member,
    renews: heartbeat !== undefined,
    releases: heartbeat === undefined || heartbeat.release.includes(scope),
    acquires: heartbeat?.acquire.includes(scope) === true,
    ...{ sentAt, answeredAt },
    answer: answer && (lease === undefined ? null : { holder: lease.holder, token: lease.fencingToken }),
  };
}

const free: Lease = { holder: null, token: undefined, lastToken: 0, renewedAfter: 0, renewedBefore: 0, now: 0 };

/** The model keeps all leases that the answers allow: whether a lease expired before a request without an answer shows only later. */
const modelOf = (times: LeaseTimes): SequentialModel<readonly Lease[], ScopeRequest> => ({
  initial: [free],
  keyOf: (leases) => leases.map(keyOf).join(' '),
  step: (leases, request) => {
    const possible = new Map<string, Lease>();
    for (const lease of leases.flatMap((one) => leasesAt(one, request, times))) {
      const after = afterRequest(lease, request);
      if (after !== undefined) possible.set(keyOf(after), after);
    }
    return possible.size === 0 ? undefined : [...possible.values()];
  },
});
/** The lease when a request takes effect: as it was, or expired. A request without an answer takes effect before those that follow it. */
function leasesAt(lease: Lease, { sentAt, answeredAt }: ScopeRequest, { ttlMs, isSteady }: LeaseTimes): Lease[] {
  const now = Math.max(lease.now, sentAt);
  const renewedBefore = Math.min(lease.renewedBefore, answeredAt);
  const held = { ...lease, renewedBefore, now };
  if (lease.holder === null) return now <= answeredAt ? [held] : [];
  const expired = { ...free, lastToken: lease.lastToken, now: Math.max(now, lease.renewedAfter + ttlMs) };
  const isExpired = isSteady && now > renewedBefore + ttlMs;
  return [...(isExpired ? [] : [held]), expired].filter((one) => one.now <= answeredAt);
}

const keyOf = (lease: Lease): string => Object.values(lease).join();

/** The lease after the request, or undefined if the answer is another one. */
function afterRequest(lease: Lease, request: ScopeRequest): Lease | undefined {
  const { member, renews, releases, acquires, answeredAt, answer } = request;
  const { lastToken, now } = lease;
  const released = releases && lease.holder === member ? { ...free, lastToken, now } : lease;
  const renewal = { renewedAfter: now, renewedBefore: answeredAt, now };
  if (acquires && released.holder === null) {
    if (answer === undefined) return { holder: member, token: undefined, lastToken, ...renewal };
    if (answer?.holder !== member || answer.token <= lastToken) return undefined;
    return { holder: member, token: answer.token, lastToken: answer.token, ...renewal };
  }
  const after = renews && released.holder === member ? { ...released, ...renewal } : released;
  if (answer === undefined) return after;
  if (answer === null) return after.holder === null ? after : undefined;
  if (answer.holder !== after.holder) return undefined;
  if (after.token === undefined) return answer.token <= lastToken ? undefined : withToken(after, answer.token);
  return answer.token === after.token ? after : undefined;
}

const withToken = (lease: Lease, token: number): Lease => ({ ...lease, token, lastToken: token });
