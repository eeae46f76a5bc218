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

const free: Lease = { holder: null, token: undefined, lastToken: 0, renewedAfter: 0, renewedBefore: 0 };

const modelOf = ({ ttlMs, isSteady }: LeaseTimes): SequentialModel<Lease, ScopeRequest> => ({
  initial: free,
  keyOf: (lease) => Object.values(lease).join(),
  step: (lease, request) => {
    const isExpired = isSteady && request.sentAt > lease.renewedBefore + ttlMs;
    const mayBeExpired = lease.holder !== null && request.answeredAt >= lease.renewedAfter + ttlMs;
    const possible = [
      ...(isExpired ? [] : [lease]),
      ...(mayBeExpired ? [{ ...free, lastToken: lease.lastToken }] : []),
    ];
    for (const before of possible.length > 0 ? possible : [{ ...free, lastToken: lease.lastToken }]) {
      const after = afterRequest(before, request);
      if (after !== undefined) return after;
    }
    return undefined;
  },
});

/** The lease after the request, or undefined if the answer is another one. */
function afterRequest(lease: Lease, request: ScopeRequest): Lease | undefined {
  const { member, renews, releases, acquires, sentAt, answeredAt, answer } = request;
  const { lastToken } = lease;
  const released = releases && lease.holder === member ? { ...free, lastToken } : lease;
  const renewal = { renewedAfter: sentAt, renewedBefore: answeredAt };
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
