import type { Msg } from '@nats-io/nats-core';
import type { Cancel, Clock } from '@sluice/runtime';
import type { NatsLink } from './link.ts';

export interface PublishResult {
  /** Stream sequences of the messages, from the first, that are stored for certain. */
  readonly sequences: readonly number[];
  /** Why the next one is not. */
  readonly failure?: Failure;
}

export interface Failure {
  /**
   * - `timeout`: no acknowledgement in time; `disconnected`: none will come
   * - `out-of-order`: the preceding record is not the last one in the stream
   * - `duplicates`: part of the batch is stored already, so this attempt stored nothing
   * - `no-stream`: the stream or JetStream does not exist
   * - `refused`: anything else, such as a stream at its limit
   */
  readonly kind: 'timeout' | 'disconnected' | 'out-of-order' | 'duplicates' | 'no-stream' | 'refused';
  readonly reason: string;
}

const wrongLastId = 10070;
const batchContainsDuplicate = 10201;

/** The message's stream sequence, or why it is not stored. */
type Ack = number | Failure;

interface PendingPublish {
  onAck(index: number, ack: Ack): void;
  onDisconnect(): void;
}

/**
 * Collects the acknowledgements of many messages on one subscription. `js.publish` uses a promise, a timer and a mux entry
 * per message.
 */
export class Acks {
  readonly #inbox: string;
  readonly #clock: Clock;
  readonly #pending = new Map<number, PendingPublish>();
  #attempts = 0;

  constructor(link: NatsLink, inbox: string, clock: Clock) {
    this.#inbox = inbox;
    this.#clock = clock;
    link.nc.subscribe(`${inbox}.>`, {
      callback: (error, message) => {
        if (error === null) this.#receive(message);
      },
    });
    link.onDown(() => this.close());
  }

  /**
   * Calls `send`, which publishes messages with the given reply subjects, and waits for `count` acknowledgements. Gives up
   * if none arrives for `timeoutMs`.
   */
  expect(count: number, timeoutMs: number, send: (reply: (index: number) => string) => void): Promise<PublishResult> {
    return new Promise((resolve, reject) => {
      const attempt = ++this.#attempts;
      const acks = new Array<Ack | undefined>(count).fill(undefined);
      let left = count;
      let progress = false;
      let timer: Cancel = () => {};
      const finish = (missing: Failure) => {
        timer();
        this.#pending.delete(attempt);
        const sequences: number[] = [];
        for (const ack of acks) {
          if (typeof ack !== 'number') return resolve({ sequences, failure: ack ?? missing });
          sequences.push(ack);
        }
        resolve({ sequences });
      };
      const timeout: Failure = { kind: 'timeout', reason: `no acknowledgement within ${timeoutMs / 1000} s` };
      const watch = () => {
        timer = this.#clock.schedule(timeoutMs, () => {
          if (!progress) return finish(timeout);
          progress = false;
          watch();
        });
      };
      this.#pending.set(attempt, {
        onAck: (index, ack) => {
          if (index >= count || acks[index] !== undefined) return;
          acks[index] = ack;
          progress = true;
          left -= 1;
          if (left === 0) finish(timeout);
        },
        onDisconnect: () => finish({ kind: 'disconnected', reason: 'the connection was lost' }),
      });
      try {
        send((index) => `${this.#inbox}.${attempt}.${index}`);
        watch();
      } catch (error) {
        this.#pending.delete(attempt);
        reject(error);
      }
    });
  }

  /** Resolves all pending calls: no acknowledgement will arrive. */
  close(): void {
    for (const pending of [...this.#pending.values()]) pending.onDisconnect();
  }

  #receive({ subject, headers, data }: Msg): void {
    const [attempt, index] = subject.slice(this.#inbox.length + 1).split('.');
    this.#pending.get(Number(attempt))?.onAck(Number(index), headers?.code === 503 ? noStream : parseAck(data));
  }
}

const noStream: Failure = { kind: 'no-stream', reason: 'no stream has this subject' };

const decoder = new TextDecoder();

function parseAck(data: Uint8Array): Ack {
  let answer: { seq?: number; error?: { err_code?: number; description?: string } } | null;
  try {
    answer = JSON.parse(decoder.decode(data));
  } catch {
    return { kind: 'refused', reason: 'the acknowledgement is not JSON' };
  }
  const error = answer?.error;
  if (error === undefined) return answer?.seq ?? { kind: 'refused', reason: 'the acknowledgement has no sequence' };
  const reason = `${error.description ?? 'refused'} (${error.err_code ?? 'no code'})`;
  if (error.err_code === wrongLastId) return { kind: 'out-of-order', reason };
  if (error.err_code === batchContainsDuplicate) return { kind: 'duplicates', reason };
  return { kind: 'refused', reason };
}
