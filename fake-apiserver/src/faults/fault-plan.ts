import type { Random } from '@sluice/platform';
import { isResourceName, resources } from '../server/resources.ts';
import {
  alreadyExists,
  conflict,
  expired,
  forbidden,
  internalError,
  namespaceTerminating,
  notFound,
  type StatusError,
  serviceUnavailable,
  tooManyRequests,
} from '../server/status.ts';
import { PlainAnswer } from './plain-answer.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

export type FaultError =
  | 'conflict'
  | 'notfound'
  | 'alreadyexists'
  | 'forbidden'
  /** Forbidden with the cause NamespaceTerminating. */
  | 'forbiddenTerminating'
  | 'internal'
  /** 410 Expired, for lists and watches. */
  | 'gone'
  /** 429 with Retry-After. */
  | 'tooManyRequests'
  | 'unavailable'
  /** The connection breaks before the request reaches the server; a running watch breaks after `afterEvents`. */
  | 'reset'
  /** The server executes the request, then the connection breaks before the response. */
  | 'resetAfter'
  /** The connection breaks, and the request reaches the server `lateMs` later. For writes. */
  | 'late'
  /** The server closes a watch normally, after `afterEvents`. */
  | 'end'
  /**
   * The server lags `behind` changes: lists return old state, and a watch from a resourceVersion it has not reached is
   * rejected.
   */
  | 'stale'
  /** A list from a server that has lost its data: it returns no items. */
  | 'empty'
  /** A proxy without a backend answers 404, without a Status. */
  | 'plainNotFound'
  /** 404 for another object, the namespace. */
  | 'foreignNotFound';

/** A fault for matching requests. An absent `verb`, `resource` or `name` matches all. */
export interface Fault {
  readonly verb?: Verb;
  readonly resource?: string;
  readonly name?: string;
  /** If absent, the request is only delayed, and later faults may match it too. */
  readonly error?: FaultError;
  /** Number of matching requests to affect; absent or 0: all. */
  readonly times?: number;
  /** Delay before anything else, in milliseconds. Of several faults that match a request, the longest one counts. */
  readonly latencyMs?: number;
  /** For `late`: in milliseconds; 1,000 by default. */
  readonly lateMs?: number;
  /** Retry-After of 429, in seconds; 1 by default. */
  readonly retryAfterSeconds?: number;
  /** Probability of the fault, 0 to 1; requires the plan's Random. */
  readonly probability?: number;
  /** For `reset` and `end` of a watch: number of events delivered first; 0 by default. */
  readonly afterEvents?: number;
  /** For `stale`: number of changes to lag; 1 by default. */
  readonly behind?: number;
}

export interface FaultyRequest {
  readonly verb: Verb;
  readonly resource: string;
  readonly name: string;
}

/** The faults that apply to one request. */
export interface Injected {
  readonly latencyMs: number;
  readonly error?: StatusError | PlainAnswer | 'reset' | 'resetAfter';
  /** The connection breaks, and the server executes the request after this time, in milliseconds. */
  readonly lateMs?: number;
  /** How an accepted watch ends. */
  readonly cut?: { readonly how: 'reset' | 'end'; readonly afterEvents: number };
  /** For a list or watch: number of changes the server lags. */
  readonly behind?: number;
  /** For a list: return no items. */
  readonly empty?: true;
}

const unharmed: Injected = { latencyMs: 0 };

/** Faults in order of precedence. The first one with an error that matches a request applies. */
export class FaultPlan {
  readonly #random: Random | undefined;
  #faults: readonly { readonly fault: Fault; left: number }[];

  constructor(faults: readonly Fault[] = [], random?: Random) {
    this.#random = random;
    this.#faults = faults.map(armed);
  }

  add(fault: Fault): void {
    this.#faults = [...this.#faults, armed(fault)];
  }

  clear(): void {
    this.#faults = [];
  }

  /** Returns the faults for this request and counts them as used. */
  take(request: FaultyRequest): Injected {
    if (this.#faults.length === 0) return unharmed;
    let latencyMs = 0;
    for (const entry of this.#faults) {
      const { fault } = entry;
      if (!matches(fault, request) || !this.#strikes(fault)) continue;
      if (--entry.left <= 0) this.#faults = this.#faults.filter((other) => other !== entry);
      latencyMs = Math.max(latencyMs, fault.latencyMs ?? 0);
      if (fault.error !== undefined) return { latencyMs, ...outcome(fault, fault.error, request) };
    }
    return { latencyMs };
  }

  #strikes(fault: Fault): boolean {
    if (fault.probability === undefined) return true;
    if (this.#random === undefined) throw new TypeError('a fault with a probability needs a Random');
    return this.#random.next() < fault.probability;
  }
}

function armed(fault: Fault): { readonly fault: Fault; left: number } {
  return { fault, left: fault.times || Number.POSITIVE_INFINITY };
}

function matches(fault: Fault, request: FaultyRequest): boolean {
  return (
    (fault.verb === undefined || fault.verb === request.verb) &&
    (fault.resource === undefined || fault.resource === request.resource) &&
    (fault.name === undefined || fault.name === request.name)
  );
}

function outcome(fault: Fault, error: FaultError, request: FaultyRequest): Omit<Injected, 'latencyMs'> {
  if (error === 'resetAfter') return { error };
  if (error === 'late') return { lateMs: fault.lateMs ?? 1_000 };
  if (error === 'stale') return { behind: fault.behind ?? 1 };
  if (error === 'empty') return { empty: true };
  if (error === 'reset' || error === 'end') {
    if (request.verb === 'watch') return { cut: { how: error, afterEvents: fault.afterEvents ?? 0 } };
    return { error: 'reset' };
  }
  if (error === 'plainNotFound') return { error: new PlainAnswer(404) };
  return { error: statusOf(fault, error, request) };
}

/** The messages of k8s.io/apimachinery, with the detail `injected`. */
function statusOf(
  fault: Fault,
  error: Exclude<FaultError, 'reset' | 'resetAfter' | 'late' | 'end' | 'stale' | 'empty' | 'plainNotFound'>,
  { resource, name }: FaultyRequest,
): StatusError {
  const info = resources[isResourceName(resource) ? resource : 'events'];
  switch (error) {
    case 'conflict':
      return conflict(info, name, 'injected');
    case 'notfound':
      return notFound(info, name);
    case 'foreignNotFound':
      return notFound(resources.namespaces, 'elsewhere');
    case 'alreadyexists':
      return alreadyExists(info, name);
    case 'forbidden':
      return forbidden(info, name, 'injected');
    case 'forbiddenTerminating':
      return namespaceTerminating(info, name);
    case 'internal':
      return internalError('injected');
    case 'gone':
      return expired('too old resource version: injected');
    case 'tooManyRequests':
      return tooManyRequests(fault.retryAfterSeconds ?? 1);
    case 'unavailable':
      return serviceUnavailable('injected');
  }
}
