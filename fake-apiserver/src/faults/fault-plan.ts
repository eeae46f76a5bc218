import type { Random } from '@sluice/runtime';
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
  /** The connection breaks before the request reaches the server, or a running watch after `afterEvents`. */
  | 'reset'
  /** The request is carried out, and the connection breaks before the answer. */
  | 'resetAfter'
  /** The server ends a watch in order, after `afterEvents`. */
  | 'end'
  /**
   * A server answers that is `behind` changes behind: lists show the past; a watch from a version that it has not come to
   * is refused.
   */
  | 'stale'
  /** A list by a server that has lost what it had: nothing is in it. */
  | 'empty';

/** What shall go wrong with requests that match. Absent `verb`, `resource` and `name` match all. */
export interface Fault {
  readonly verb?: Verb;
  readonly resource?: string;
  readonly name?: string;
  /** Absent: the request is only slowed down, and later faults may match it too. */
  readonly error?: FaultError;
  /** The next so many matching requests; absent or 0: all. */
  readonly times?: number;
  /** Before anything else happens. */
  readonly latencyMs?: number;
  /** Of 429; 1 unless told. */
  readonly retryAfterSeconds?: number;
  /** Strikes by chance, 0 to 1; needs the plan's Random. */
  readonly probability?: number;
  /** With `reset` and `end` of a watch: after this many events; 0 unless told. */
  readonly afterEvents?: number;
  /** With `stale`: by how many changes; 1 unless told. */
  readonly behind?: number;
}

export interface FaultyRequest {
  readonly verb: Verb;
  readonly resource: string;
  readonly name: string;
}

/** What happens to one request. */
export interface Injected {
  readonly latencyMs: number;
  readonly error?: StatusError | 'reset' | 'resetAfter';
  /** Of a watch that is let in. */
  readonly cut?: { readonly how: 'reset' | 'end'; readonly afterEvents: number };
  /** Of a list or watch: changes that the server has not heard of. */
  readonly behind?: number;
  /** Of a list: nothing is in it. */
  readonly empty?: true;
}

const unharmed: Injected = { latencyMs: 0 };

/** Faults in the order of their list. The first with an error that matches a request decides. */
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

  /** Uses up the faults that strike this request. */
  take(request: FaultyRequest): Injected {
    if (this.#faults.length === 0) return unharmed;
    let latencyMs = 0;
    for (const entry of this.#faults) {
      const { fault } = entry;
      if (!matches(fault, request) || !this.#strikes(fault)) continue;
      if (--entry.left <= 0) this.#faults = this.#faults.filter((other) => other !== entry);
      latencyMs += fault.latencyMs ?? 0;
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
  if (error === 'stale') return { behind: fault.behind ?? 1 };
  if (error === 'empty') return { empty: true };
  if (error === 'reset' || error === 'end') {
    if (request.verb === 'watch') return { cut: { how: error, afterEvents: fault.afterEvents ?? 0 } };
    return { error: 'reset' };
  }
  return { error: statusOf(fault, error, request) };
}

/** The texts of the API machinery, with the detail `injected` where one is due. */
function statusOf(
  fault: Fault,
  error: Exclude<FaultError, 'reset' | 'resetAfter' | 'end' | 'stale' | 'empty'>,
  { resource, name }: FaultyRequest,
): StatusError {
  const info = resources[isResourceName(resource) ? resource : 'events'];
  switch (error) {
    case 'conflict':
      return conflict(info, name, 'injected');
    case 'notfound':
      return notFound(info, name);
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
