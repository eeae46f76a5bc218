import type { Logger } from '@sluice/runtime';
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
