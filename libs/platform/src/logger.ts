/** Port of structured logging: one event per line, stable keys, no secrets. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Returns a logger that adds `fields` to every line. */
  with(fields: LogFields): Logger;
}

export type LogFields = Readonly<Record<string, unknown>>;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A logger that writes each line with `write`; `fields` includes those bound by `with`. */
export function loggerOf(
  write: (level: LogLevel, message: string, fields: LogFields) => void,
  bound: LogFields = {},
): Logger {
  const at = (level: LogLevel) => (message: string, fields?: LogFields) =>
    write(level, message, { ...bound, ...fields });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => loggerOf(write, { ...bound, ...fields }),
  };
}

export const silentLogger: Logger = loggerOf(() => {});
