import { isDeepStrictEqual } from 'node:util';
import { type Cancel, type Clock, errorMessage, type LogFields, type Logger, type LogLevel } from '@sluice/platform';
import type { KeepAlive, KeepAliveOptions } from '../index.ts';
import type { RedisOptions, RedisSecrets } from './redis-options.ts';
import { RenewalCells } from './renewal-cells.ts';

/** What the main thread sends to the lease thread. */
export type LeaseThreadRequest =
  | {
      readonly kind: 'start';
      readonly id: number;
      readonly options: KeepAliveOptions;
      readonly cells: SharedArrayBuffer;
    }
  | { readonly kind: 'hold'; readonly id: number; readonly leases: readonly (readonly [string, number])[] }
  | { readonly kind: 'stop'; readonly id: number }
  | { readonly kind: 'secrets'; readonly secrets: RedisSecrets };

/** What the lease thread sends to the main thread. */
export type LeaseThreadMessage =
  | { readonly kind: 'log'; readonly line: LeaseThreadLine }
  /** It is connected, so it can renew leases. */
  | { readonly kind: 'ready' }
  /** It is about to connect again and needs the current secrets. */
  | { readonly kind: 'reconnecting' };

/** A line that the lease thread has the main thread log. */
export interface LeaseThreadLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** A running thread that executes `runLeaseThread`. */
export interface LeaseThread {
  send(request: LeaseThreadRequest): void;
  terminate(): void;
}

export interface LeaseThreadEvents {
  readonly onMessage: (message: LeaseThreadMessage) => void;
  /** Called once if the thread fails. */
  readonly onFailure: (error: unknown) => void;
}

/** Starts a thread that connects to Redis with these options. */
export type StartLeaseThread = (options: RedisOptions, events: LeaseThreadEvents) => LeaseThread;

interface LeaseThreadClientOptions {
  readonly start: StartLeaseThread;
  readonly redis: RedisOptions;
  readonly secrets?: (() => RedisSecrets) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Time until a failed thread is started again, in milliseconds. Meanwhile heartbeats renew the leases. */
const restartMs = 1_000;

interface Group {
  readonly options: KeepAliveOptions;
  readonly cells: RenewalCells;
  leases: readonly (readonly [string, number])[];
}

/** The main thread's side of the lease thread. Starts it at once, because loading it takes longer than anything else at startup. */
export class LeaseThreadClient {
  readonly #options: LeaseThreadClientOptions;
  readonly #groups = new Map<number, Group>();
  readonly #ready = Promise.withResolvers<void>();
  #thread: LeaseThread | undefined;
  #restart: Cancel = () => {};
  #nextId = 0;
  #closed = false;

  constructor(options: LeaseThreadClientOptions) {
    this.#options = options;
    this.#start();
  }

  keepAlive(options: KeepAliveOptions): KeepAlive {
    const [id, cells] = [this.#nextId++, new RenewalCells()];
    const group: Group = { options, cells, leases: [] };
    this.#groups.set(id, group);
    // A thread that is being restarted learns all groups when it starts.
    this.#announce(id, group);
    return {
      ready: this.#ready.promise,
      get renewedAt() {
        return cells.renewedAt;
      },
      hold: (leases) => {
        const next = [...leases];
        if (isDeepStrictEqual(next, group.leases)) return;
        group.leases = next;
        this.#thread?.send({ kind: 'hold', id, leases: group.leases });
      },
      alive: (renewedAt) => {
        cells.heartbeatAt = renewedAt;
      },
      stop: () => {
        this.#groups.delete(id);
        this.#thread?.send({ kind: 'stop', id });
      },
    };
  }

  close(): void {
    this.#closed = true;
    this.#restart();
    this.#thread?.terminate();
  }

  #start(): void {
    if (this.#closed) return;
    const { start, redis, clock, logger } = this.#options;
    this.#thread = start(redis, {
      onMessage: (received) => {
        if (received.kind === 'reconnecting') return this.#sendSecrets();
        if (received.kind === 'ready') return this.#ready.resolve();
        const { level, message, fields } = received.line;
        logger[level](message, fields);
      },
      onFailure: (error) => {
        if (this.#closed) return;
        logger.error('lease thread failed; restarting it', { reason: errorMessage(error), retryIn: `${restartMs}ms` });
        this.#thread = undefined;
        this.#restart = clock.schedule(restartMs, () => this.#start());
      },
    });
    for (const [id, group] of this.#groups) this.#announce(id, group);
  }

  #sendSecrets(): void {
    const { secrets } = this.#options;
    if (secrets !== undefined) this.#thread?.send({ kind: 'secrets', secrets: secrets() });
  }

  #announce(id: number, { options, cells, leases }: Group): void {
    this.#thread?.send({ kind: 'start', id, options, cells: cells.buffer });
    this.#thread?.send({ kind: 'hold', id, leases });
  }
}
