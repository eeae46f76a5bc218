import { errorMessage, type Logger } from '@sluice/platform';
import kafkajs, { type logCreator, type logLevel } from 'kafkajs';

/**
 * Sends the log lines of kafkajs to `logger` at level debug. kafkajs logs every failed attempt as an error, several times;
 * OutageLogger reports each outage once. The lines contain brokers and requests, never credentials.
 */
export function kafkajsLogger(logger: Logger): { logLevel: logLevel; logCreator: logCreator } {
  const create: logCreator =
    () =>
    ({ namespace, label, log: { message, broker, error } }) =>
      logger.debug(`kafkajs: ${message}`, { namespace, level: label, broker, error });
  return { logLevel: kafkajs.logLevel.WARN, logCreator: create };
}

/**
 * Logs an outage of Kafka once when it begins and once when it is over, however many callers are affected. One failure is
 * not an outage: after a leader change a request fails once, and the retry finds the new leader.
 */
export class OutageLogger {
  readonly #logger: Logger;
  /** Consecutive failures by caller. */
  readonly #failures = new Map<string, number>();
  #outage = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** `caller` names what failed and has to be passed to `recovered`. */
  failed(caller: string, error: unknown): void {
    const fields = { caller, error: errorMessage(error) };
    const failures = (this.#failures.get(caller) ?? 0) + 1;
    this.#failures.set(caller, failures);
    if (this.#outage || failures < 2) {
      this.#logger.debug('Kafka request failed; retrying', fields);
      return;
    }
    this.#outage = true;
    this.#logger.warn('Kafka unavailable; retrying', fields);
  }

  recovered(caller: string): void {
    if (!this.#failures.delete(caller) || this.#failures.size > 0 || !this.#outage) return;
    this.#outage = false;
    this.#logger.info('Kafka available again');
  }
}
