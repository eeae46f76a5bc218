import type { Msg } from '@nats-io/nats-core';
import type { Cancel, Clock } from '@sluice/runtime';
import type { NatsLink } from './link.ts';

export interface Answer {
  /** So many from the first on are stored for sure. */
  readonly stored: number;
  /** What became of the next one. */
  readonly failure?: Failure;
}

export interface Failure {
  /**
   * - `late`: no answer came in time; `cut-off`: the connection went, so none will come
   * - `out-of-turn`: the record before it is not the last one in the stream
   * - `duplicates`: some of a batch are stored already, so none was stored now
   * - `gone`: there is no stream, or no JetStream
   * - `refused`: anything else, such as a stream at its limit
   */
  readonly kind: 'late' | 'cut-off' | 'out-of-turn' | 'duplicates' | 'gone' | 'refused';
  readonly reason: string;
}

const wrongLastId = 10070;
const batchContainsDuplicate = 10201;

interface Waiting {
  answered(index: number, failure: Failure | undefined): void;
  cutOff(): void;
}

/**
 * Collects acknowledgements of many publications on one subscription; `js.publish` would have a promise, a timer and a
 * mux entry for each.
 */
export class Acks {
  readonly #inbox: string;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
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
   * Runs `send`, which gives each message its subject for the reply, and waits until `count` answers are there, or none
   * has come for so long.
   */
  expect(count: number, patienceMs: number, send: (reply: (index: number) => string) => void): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const attempt = ++this.#attempts;
      const failures = new Array<Failure | undefined>(count);
      const answered = new Array<boolean>(count).fill(false);
      let left = count;
      let progress = false;
      let timer: Cancel = () => {};
      const finish = (missing: Failure) => {
        timer();
        this.#waiting.delete(attempt);
        const stored = answered.findIndex((there, index) => !there || failures[index] !== undefined);
        resolve(stored < 0 ? { stored: count } : { stored, failure: failures[stored] ?? missing });
      };
      const late: Failure = { kind: 'late', reason: `no acknowledgement within ${patienceMs / 1000} s` };
      const watch = () => {
        timer = this.#clock.schedule(patienceMs, () => {
          if (!progress) return finish(late);
          progress = false;
          watch();
        });
      };
      this.#waiting.set(attempt, {
        answered: (index, failure) => {
          if (answered[index] !== false) return;
          answered[index] = true;
          failures[index] = failure;
          progress = true;
          left -= 1;
          if (left === 0) finish(late);
        },
        cutOff: () => finish({ kind: 'cut-off', reason: 'the connection was lost' }),
      });
      try {
        send((index) => `${this.#inbox}.${attempt}.${index}`);
        watch();
      } catch (error) {
        this.#waiting.delete(attempt);
        reject(error);
      }
    });
  }

  /** Ends all waiting: no answer will come any more. */
  close(): void {
    for (const waiting of [...this.#waiting.values()]) waiting.cutOff();
  }

  #receive({ subject, headers, data }: Msg): void {
    const [attempt, index] = subject.slice(this.#inbox.length + 1).split('.');
    this.#waiting.get(Number(attempt))?.answered(Number(index), headers?.code === 503 ? gone : readAnswer(data));
  }
}

const gone: Failure = { kind: 'gone', reason: 'no stream takes this subject' };

const decoder = new TextDecoder();

function readAnswer(data: Uint8Array): Failure | undefined {
  const text = decoder.decode(data);
  const { error }: { error?: { err_code?: number; description?: string } } = JSON.parse(text);
  if (error === undefined) return undefined;
  const reason = `${error.description ?? 'refused'} (${error.err_code ?? 'no code'})`;
  if (error.err_code === wrongLastId) return { kind: 'out-of-turn', reason };
  if (error.err_code === batchContainsDuplicate) return { kind: 'duplicates', reason };
  return { kind: 'refused', reason };
}
