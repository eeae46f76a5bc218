import type { ServerResponse } from 'node:http';
import type { Clock } from '@sluice/runtime';

/** An idle stream is kept open by a comment this often. */
const heartbeatMs = 15_000;

/** Server-sent events to one who asked, until he goes or the console ends. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #onEnd: (() => void)[] = [];
  #isOver: boolean;

  constructor(response: ServerResponse, headers: Readonly<Record<string, string>>, clock: Clock) {
    this.#response = response;
    // Whoever is gone before he is answered is told of by no event.
    this.#isOver = response.destroyed;
    if (this.#isOver) return;
    response.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write('retry: 2000\n\n');
    const beat = () => {
      response.write(': still here\n\n');
      cancel = clock.schedule(heartbeatMs, beat);
    };
    let cancel = clock.schedule(heartbeatMs, beat);
    this.onEnd(() => cancel());
    response.on('close', () => {
      this.#isOver = true;
      for (const end of this.#onEnd) end();
    });
  }

  /** Whoever does not read has much waiting for him already; what he is not sent grows no backlog. */
  get isFull(): boolean {
    return this.#response.writableNeedDrain;
  }

  send(event: string, data: unknown): void {
    this.#response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  onEnd(end: () => void): void {
    if (this.#isOver) end();
    else this.#onEnd.push(end);
  }

  end(): void {
    this.#response.end();
  }
}
