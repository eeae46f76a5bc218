import type { ServerResponse } from 'node:http';
import type { Clock } from '@sluice/platform';
import { printable } from '@sluice/platform/process';

/** Interval of comments that keep an idle connection open. */
const heartbeatMs = 15_000;
/** Heartbeats after which a client that reads nothing is disconnected. */
const maxUnreadHeartbeats = 4;

/** A stream of server-sent events to one client. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #onEnd: (() => void)[] = [];
  #hasEnded: boolean;
  #unreadHeartbeats = 0;

  constructor(response: ServerResponse, headers: Readonly<Record<string, string>>, clock: Clock) {
    this.#response = response;
    // A client that is disconnected already causes no further `close` event.
    this.#hasEnded = response.destroyed;
    if (this.#hasEnded) return;
    response.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write('retry: 2000\n\n');
    const heartbeat = () => {
      if (!this.#keepAlive()) return;
      cancel = clock.schedule(heartbeatMs, heartbeat);
    };
    let cancel = clock.schedule(heartbeatMs, heartbeat);
    this.onEnd(() => cancel());
    response.on('close', () => {
      this.#hasEnded = true;
      for (const listener of this.#onEnd) listener();
    });
  }

  /** True while the client has not read earlier events. */
  get isFull(): boolean {
    return this.#response.writableNeedDrain;
  }

  send(event: string, data: object): void {
    this.#response.write(encodeEvent(event, data));
  }

  /** Calls `listener` when the stream ends, immediately if it has. */
  onEnd(listener: () => void): void {
    if (this.#hasEnded) listener();
    else this.#onEnd.push(listener);
  }

  end(): void {
    this.#response.end();
  }

  /** Returns false if the client is disconnected because it does not read. */
  #keepAlive(): boolean {
    if (!this.isFull) {
      this.#unreadHeartbeats = 0;
      this.#response.write(': heartbeat\n\n');
      return true;
    }
    if (++this.#unreadHeartbeats < maxUnreadHeartbeats) return true;
    this.#response.destroy();
    return false;
  }
}

let last: { readonly event: string; readonly data: object; readonly text: string } | undefined;

/** Encodes an event once if it is sent to several streams in a row. */
function encodeEvent(event: string, data: object): string {
  if (last?.data !== data || last.event !== event) {
    last = { event, data, text: `event: ${event}\ndata: ${printable(JSON.stringify(data))}\n\n` };
  }
  return last.text;
}
