import './request-queue.ts';
import type { Logger } from '@sluice/runtime';
import kafkajs, { type logCreator, type logLevel } from 'kafkajs';

/**
 * kafkajs tells each failed attempt as an error, several times. What matters to a person we say ourselves, once (see
 * Outage); its own lines are for who looks closer. They name brokers and requests, never credentials.
 */
export function kafkajsLogger(logger: Logger): { logLevel: logLevel; logCreator: logCreator } {
  const create: logCreator =
    () =>
    ({ namespace, label, log: { message, broker, error } }) =>
      logger.debug(`kafkajs: ${message}`, { namespace, level: label, broker, error });
  return { logLevel: kafkajs.logLevel.WARN, logCreator: create };
}
