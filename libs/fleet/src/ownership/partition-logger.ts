import { type Clock, type Logger, loggerOf } from '@sluice/platform';

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

/** Most scopes without a number that are listed by name. */
const maxNames = 10;

/** Scopes as short text: `0-3,7`. Of scopes that are no numbers, the first ones are listed. */
export function ranges(scopes: readonly string[]): string {
  const numbers = scopes.map(Number);
  if (numbers.some((number) => !Number.isInteger(number))) {
    const names = scopes.slice(0, maxNames).join(',');
    return scopes.length > maxNames ? `${names} and ${scopes.length - maxNames} more` : names;
  }
  const parts: { from: number; to: number }[] = [];
  for (const number of numbers.sort((a, b) => a - b)) {
    const last = parts.at(-1);
    if (last !== undefined && number === last.to + 1) last.to = number;
    else parts.push({ from: number, to: number });
  }
  return parts.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}
