import type { IncomingMessage } from 'node:http';
import { AccessDecisions } from '../access/access-decisions.ts';
import { Reader } from '../access/reader.ts';
import type { AccessReviewer } from '../ports.ts';
import type { EventStream } from './event-stream.ts';
import { Problem } from './problem.ts';
import type { RouteContext } from './route-context.ts';
import { authenticate, type FullContext, restrict, type Scope } from './scope.ts';

/** Tokens that are being checked at a time. Anybody can send one. */
const maxChecked = 64;
/** Interval at which the access of an open stream is checked again, in milliseconds. */
const checkMs = 10_000;

interface Scoped {
  readonly scope: Scope;
}

/** Answers for one request. */
interface RequestContext {
  readonly context: RouteContext;
  /** Undefined: everything is visible. */
  readonly reader: Reader | undefined;
}

/** Who sends requests, and what they may see. */
export class Readers {
  readonly #context: FullContext;
  readonly #decisions: AccessDecisions | undefined;
  readonly #readers = new WeakMap<IncomingMessage, Reader>();
  #checked = 0;

  /** Without a reviewer, every request may see everything. */
  constructor(context: FullContext, reviewer: AccessReviewer | undefined) {
    this.#context = context;
    this.#decisions = reviewer && new AccessDecisions(reviewer, context.clock);
  }

  /**
   * Finds out who sends a request. Undefined if there is nothing to find out.
   *
   * @throws Problem if no cluster accepts the token, or none answers
   */
  recognize(request: IncomingMessage, value: string | undefined): Promise<void> | undefined {
    const decisions = this.#decisions;
    if (decisions === undefined) return undefined;
    if (value === undefined) throw new Error('a request without a token was not refused');
    if (this.#checked >= maxChecked) throw new Problem(503, 'the console is busy', 'try again in a second', 1);
    const clusters = () => this.#context.sources.clusters().map(({ identity }) => identity);
    const reader = new Reader({ decisions, clusters, token: decisions.tokenOf(value) });
    this.#checked++;
    return authenticate(reader)
      .then(() => void this.#readers.set(request, reader))
      .finally(() => this.#checked--);
  }

  /**
   * What a route answers a request from.
   *
   * @throws Problem if the reader may see nothing of what the request names, or an API server does not answer
   */
  async contextFor(
    request: IncomingMessage,
    { scope }: Scoped,
    given: Record<string, unknown>,
  ): Promise<RequestContext> {
    if (this.#decisions === undefined) return { context: this.#context, reader: undefined };
    const reader = this.#readerOf(request).again();
    return { context: await restrict(this.#context, reader, scope, given), reader };
  }

  /** Ends the stream once its reader may no longer see what it is about. */
  keepChecking(stream: EventStream, request: IncomingMessage, { scope }: Scoped, given: Record<string, unknown>): void {
    if (this.#decisions === undefined) return;
    const reader = this.#readerOf(request);
    const check = async () => {
      const again = reader.again();
      await authenticate(again);
      // Updates of all Services are decided one by one.
      if (scope !== 'services') await restrict(this.#context, again, scope, given);
    };
    let hasEnded = false;
    let cancel = () => {};
    const checkLater = () => {
      if (hasEnded) return;
      cancel = this.#context.clock.schedule(checkMs, () => void check().then(checkLater, () => stream.end()));
    };
    stream.onEnd(() => {
      hasEnded = true;
      cancel();
    });
    checkLater();
  }

  #readerOf(request: IncomingMessage): Reader {
    const reader = this.#readers.get(request);
    if (reader === undefined) throw new Error('the sender of a request is unknown');
    return reader;
  }
}
