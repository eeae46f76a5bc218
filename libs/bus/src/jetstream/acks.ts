import type { Msg } from '@nats-io/nats-core';
import type { Cancel, Clock } from '@sluice/platform';
import type { NatsLink } from './link.ts';

export interface BatchResult {
  /** How many messages are stored for certain, from the first. */
  readonly count: number;
  /** Stream sequence of the last one that this batch has stored; 0 if all were stored before. */
  readonly last: number;
  /** Why the next one is not stored. */
  readonly failure?: Failure;
}

export interface Failure {
  /**
   * - `timeout`: no acknowledgement in time; `disconnected`: none will come
   * - `gap`: the server missed a message of the batch
   * - `no-stream`: the stream or JetStream does not exist
   * - `rejected`: the server can never store this message
   * - `refused`: anything else, such as a stream at its limit
   */
  readonly kind: 'timeout' | 'disconnected' | 'gap' | 'no-stream' | 'rejected' | 'refused';
  readonly reason: string;
}

/** What the server says of a batch. */
type Answer =
  /** More is to come: some messages are stored, or why the batch will end early. */
  { readonly failure?: Failure } | BatchResult;

interface PendingBatch {
  onAnswer(answer: Answer): void;
  onDisconnect(): void;
}

/** After how many messages of a batch the server acknowledges at the latest. */
const ackEvery = 100;

/** Operations of a fast batch. */
const [start, append, commit] = [0, 1, 2];

/**
 * Receives the server's answers to fast batches on one subscription. The server acknowledges a batch as a whole; the reply subjects
 * of its messages say which batch they belong to and where they are in it.
 */
export class Acks {
  readonly #inbox: string;
  readonly #clock: Clock;
  readonly #pending = new Map<string, PendingBatch>();
  #batches = 0;

  /** The last token of the inbox must be unique, as it makes the batches unique. */
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
   * Calls `send`, which publishes the messages of a batch with the given reply subjects, and waits until the batch ends. Gives up
   * if nothing is acknowledged for `timeoutMs`.
   */
  expect(messages: number, timeoutMs: number, send: (reply: (index: number) => string) => void): Promise<BatchResult> {
    return new Promise((resolve, reject) => {
      const batch = `${this.#inbox.slice(this.#inbox.lastIndexOf('.') + 1)}-${++this.#batches}`;
      let progress = false;
      let failed: Failure | undefined;
      let timer: Cancel = () => {};
      const finish = (result: BatchResult) => {
        timer();
        this.#pending.delete(batch);
        resolve(result);
      };
      const unknown = (failure: Failure) => finish({ count: 0, last: 0, failure });
      const watch = () => {
        timer = this.#clock.schedule(timeoutMs, () => {
          if (!progress) return unknown({ kind: 'timeout', reason: `no acknowledgement within ${timeoutMs / 1000} s` });
          progress = false;
          watch();
        });
      };
      this.#pending.set(batch, {
        onAnswer: (answer) => {
          progress = true;
          failed ??= answer.failure;
          if (!('count' in answer)) return;
          const count = Math.min(answer.count, messages);
          finish(count === messages ? { count, last: answer.last } : { ...answer, failure: failed ?? gap });
        },
        onDisconnect: () => unknown({ kind: 'disconnected', reason: 'the connection was lost' }),
      });
      const operation = (index: number) => (index === messages - 1 ? commit : index === 0 ? start : append);
      try {
        send((index) => `${this.#inbox}.${batch}.${ackEvery}.fail.${index + 1}.${operation(index)}.$FI`);
        watch();
      } catch (error) {
        this.#pending.delete(batch);
        reject(error);
      }
    });
  }

  /** Resolves all pending calls: no acknowledgement will arrive. */
  close(): void {
    for (const pending of [...this.#pending.values()]) pending.onDisconnect();
  }

  #receive({ subject, headers, data }: Msg): void {
    const [batch = ''] = subject.slice(this.#inbox.length + 1).split('.', 1);
    this.#pending.get(batch)?.onAnswer(headers?.code === 503 ? noStream : parseAnswer(data));
  }
}

const ended = (failure: Failure): BatchResult => ({ count: 0, last: 0, failure });

const noStream = ended({ kind: 'no-stream', reason: 'no stream has this subject' });

const gap: Failure = { kind: 'gap', reason: 'the server missed a message of the batch' };

const refused = (reason: string): Failure => ({ kind: 'refused', reason });

/** Errors that are about one message: its size, or the size of its headers. */
const rejections: ReadonlySet<number | undefined> = new Set([10_054, 10_097]);

const failureOf = ({ err_code, description }: NonNullable<Acknowledgement['error']>): Failure => ({
  kind: rejections.has(err_code) ? 'rejected' : 'refused',
  reason: `${description ?? 'refused'} (${err_code ?? 'no code'})`,
});

const decoder = new TextDecoder();

interface Acknowledgement {
  /** Absent at the end of the batch. */
  readonly type?: 'ack' | 'gap' | 'err';
  readonly seq?: number;
  readonly count?: number;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

function parseAnswer(data: Uint8Array): Answer {
  let answer: Acknowledgement | null;
  try {
    answer = JSON.parse(decoder.decode(data));
  } catch {
    return ended(refused('the acknowledgement is not JSON'));
  }
  const { type, seq, count, error } = answer ?? {};
  if (type === 'ack') return {};
  if (type === 'gap') return { failure: gap };
  const failure = error && failureOf(error);
  if (type === 'err') return failure === undefined ? {} : { failure };
  if (failure !== undefined) return ended(failure);
  if (seq === undefined || count === undefined) return ended(refused('the acknowledgement has no sequence'));
  return { count, last: seq };
}
