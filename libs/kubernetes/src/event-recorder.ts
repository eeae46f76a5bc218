import { type EventToRecord, endpointController } from '@sluice/model';
import { type Clock, type Logger, type Random, sleep } from '@sluice/platform';
import { type ApiError, isApiError } from './api-error.ts';
import { EventCorrelator } from './event-correlator.ts';
import { type EventObject, eventObject, timestamp } from './event-object.ts';

/** Stores Events; implemented by HttpCluster. */
export interface EventStore {
  createEvent(event: EventObject, signal: AbortSignal): Promise<void>;
  /** JSON merge patch of one Event. */
  patchEvent(namespace: string, name: string, patch: unknown, signal: AbortSignal): Promise<void>;
}

interface EventRecorderOptions {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** As in upstream's recorder (J4). */
const maxAttempts = 12;
const retryDelayMs = 10_000;
/** Maximum number of queued Events. The newest are dropped beyond it, to bound memory. */
const maxQueued = 1_000;

/** Message of the log line about an Event. */
export const eventOccurred = 'event occurred';

/** Records Kubernetes Events in the background, best effort: it never fails and never blocks. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #correlator = new EventCorrelator();
  /** Namespace and name of the stored Event, by correlation key. */
  readonly #stored = new Map<string, { readonly namespace: string; readonly name: string }>();
  readonly #queue: (() => Promise<void>)[] = [];
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /** `component` is the reporting controller, e.g. `endpoint-slice-controller`. */
  record(event: EventToRecord, component: string): void {
    if (this.#stopped.signal.aborted) return;
    this.#log(event, component);
    if (this.#queue.length >= maxQueued) {
      this.#options.logger.warn('dropping event; the queue is full', { reason: event.reason });
      return;
    }
    this.#queue.push(() => this.#send(event, component));
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /**
   * Logs each occurrence, also those that aggregation or a limit keeps from being stored. Events about Endpoints have a higher
   * verbosity (J5).
   */
  #log({ type, reason, message, regarding }: EventToRecord, component: string): void {
    const { kind, namespace, name } = regarding;
    const object = namespace === '' ? name : `${namespace}/${name}`;
    const level = component === endpointController ? 'debug' : 'info';
    this.#options.logger[level](eventOccurred, { object, kind, type, reason, message, component });
  }

  /** Drops queued Events. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#queue.length = 0;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      try {
        await next();
      } catch (error) {
        this.#options.logger.error('cannot record event', { error });
      }
    }
  }

  async #send(event: EventToRecord, component: string): Promise<void> {
    const { clock, random } = this.#options;
    const now = clock.now();
    const correlated = this.#correlator.correlate(event, component, now);
    if (correlated.action === 'drop') return;
    const { key, count, message, firstAt } = correlated;
    const stored = this.#stored.get(key);
    if (correlated.action === 'patch' && stored !== undefined) {
      const patch = { count, message, lastTimestamp: timestamp(now) };
      const { store } = this.#options;
      const error = await this.#deliver((signal) => store.patchEvent(stored.namespace, stored.name, patch, signal));
      if (error?.status !== 404) return;
      // Events expire after an hour.
    }
    const object = eventObject({ ...event, message }, component, { count, firstAt, lastAt: now }, random);
    this.#remember(key, object);
    const error = await this.#deliver((signal) => this.#options.store.createEvent(object, signal));
    if (error === undefined) return;
    this.#stored.delete(key);
    this.#correlator.forget(key);
  }

  #remember(key: string, { metadata }: EventObject): void {
    this.#stored.delete(key);
    this.#stored.set(key, metadata);
    if (this.#stored.size <= 4096) return;
    for (const oldest of this.#stored.keys()) {
      this.#stored.delete(oldest);
      break;
    }
  }

  /** Retries transient errors until the recorder stops. Returns the last error, or undefined on success. */
  async #deliver(send: (signal: AbortSignal) => Promise<void>): Promise<ApiError | undefined> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stopped;
    for (let attempt = 1; ; attempt++) {
      try {
        await send(signal);
        return undefined;
      } catch (error) {
        if (!isApiError(error)) throw error;
        if (signal.aborted) return error;
        if (error.kind !== 'retry' || attempt === maxAttempts) {
          if (error.status !== 404) logger.warn('cannot record event', { reason: error.message });
          return error;
        }
        await sleep(clock, retryDelayMs, signal);
      }
    }
  }
}
