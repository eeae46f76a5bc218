import type { Logger } from '@sluice/runtime';

/** Logs an outage of Kafka once when it begins and once when it is over, however many callers are affected. */
export class OutageLogger {
  readonly #logger: Logger;
  readonly #affected = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** `caller` names what failed and has to be passed to `recovered`. */
  failed(caller: string, error: unknown): void {
    const fields = { caller, error: error instanceof Error ? error.message : String(error) };
    if (this.#affected.size === 0) this.#logger.warn('Kafka unavailable; retrying', fields);
    else this.#logger.debug('Kafka still unavailable', fields);
    this.#affected.add(caller);
  }

  recovered(caller: string): void {
    if (this.#affected.delete(caller) && this.#affected.size === 0) this.#logger.info('Kafka available again');
  }
}
