import { type Clock, type Logger, loggerOf } from '@sluice/platform';
import { ranges } from './ranges.ts';

/** How long after a warning the same warning of other partitions is collected, in milliseconds. */
const windowMs = 1_000;

/**
 * A logger for processes that own many partitions. A warning that concerns all of them, such as data lost by the store,
 * takes two lines: the first partition's at once, and a later one that lists the other partitions. Warnings about a key and
 * other levels pass unchanged.
 */
export function partitionLogger(logger: Logger, clock: Clock): Logger {
  const others = new Map<string, Set<string>>();

  const warn = (message: string, partition: string, write: () => void) => {
    const collected = others.get(message);
    if (collected !== undefined) return void collected.add(partition);
    const partitions = new Set<string>();
    others.set(message, partitions);
    write();
    clock.schedule(windowMs, () => {
      others.delete(message);
      partitions.delete(partition);
      if (partitions.size === 0) return;
      logger.warn(message, { partitions: ranges([...partitions]), count: partitions.size });
    });
  };

  return loggerOf((level, message, fields) => {
    const { partition, key } = fields;
    const write = () => logger[level](message, fields);
    if (level !== 'warn' || partition === undefined || key !== undefined) write();
    else warn(message, String(partition), write);
  });
}
