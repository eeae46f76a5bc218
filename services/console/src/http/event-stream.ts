import type { ServerResponse } from 'node:http';
import type { Clock } from '@sluice/runtime';

/** Interval of comments that keep an idle connection open. */
const heartbeatMs = 15_000;

/** A stream of server-sent events to one client. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #onEnd: (() => void)[] = [];
  #hasEnded: boolean;

  constructor(response: ServerResponse, headers: Readonly<Record<string, string>>, clock: Clock) {
    this.#response = response;
    // A client that is disconnected already causes no further `close` event.
    this.#hasEnded = response.destroyed;
    if (this.#hasEnded) return;
    response.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write('retry: 2000\n\n');
    const heartbeat = () => {
      response.write(': heartbeat\n\n');
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

  send(event: string, data: unknown): void {
    this.#response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Calls `listener` when the stream ends, immediately if it has. */
  onEnd(listener: () => void): void {
    if (this.#hasEnded) listener();
    else this.#onEnd.push(listener);
  }

  end(): void {
    this.#response.end();
  }
}
