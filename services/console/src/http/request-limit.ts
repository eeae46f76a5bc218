import type { ServerResponse } from 'node:http';
import type { Clock } from '@sluice/platform';
import { Problem } from './problem.ts';

/** Maximum number of requests in progress, including responses that are being read. */
const maxRequests = 64;
/** Size of the responses that clients have not read yet, beyond which none is added. */
const maxUnreadBytes = 32 * 1024 * 1024;
/** A client that has not read its response after this time is disconnected. */
const maxResponseMs = 60_000;

/** Bounds the requests in progress and the memory of their responses. */
export class RequestLimit {
  readonly #clock: Clock;
  #requests = 0;
  #unreadBytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Creates the body of a response. The request is in progress until the body is read or the client has disconnected.
   *
   * @throws Problem if too many others are in progress
   */
  async respond(response: ServerResponse, create: () => Promise<string>): Promise<string> {
    if (this.#requests >= maxRequests || this.#unreadBytes > maxUnreadBytes) throw busy();
    this.#requests++;
    const cancel = this.#clock.schedule(maxResponseMs, () => response.destroy());
    let bytes = 0;
    const end = () => {
      cancel();
      this.#requests--;
      this.#unreadBytes -= bytes;
    };
    try {
      const body = await create();
      if (this.#unreadBytes > maxUnreadBytes) throw busy();
      bytes = body.length;
      this.#unreadBytes += bytes;
      return body;
    } finally {
      // A client that is disconnected already causes no further `close` event.
      if (response.destroyed) end();
      else response.once('close', end);
    }
  }
}

const busy = () =>
  new Problem(503, 'the console is busy', 'try again in a second, or close other pages and commands', 1);
