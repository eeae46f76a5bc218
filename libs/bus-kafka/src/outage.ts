import type { Logger } from '@sluice/runtime';

/** Tells once that the bus is away, however many wait for it, and once that it is back. */
export class Outage {
  readonly #logger: Logger;
  readonly #affected = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  failed(who: string, error: unknown): void {
    if (this.#affected.size === 0) {
      this.#logger.warn('Kafka does not serve; waiting for it', { error: message(error) });
    } else this.#logger.debug('Kafka still does not serve', { error: message(error) });
    this.#affected.add(who);
  }

  recovered(who: string): void {
    if (this.#affected.delete(who) && this.#affected.size === 0) this.#logger.info('Kafka serves again');
  }
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
