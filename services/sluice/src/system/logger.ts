import type { LogFields, Logger } from '@sluice/runtime';
import colors from 'picocolors';
import { pino } from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** Logs go to standard error, so that standard output holds only what was asked for. */
export function createLogger(format: 'text' | 'json', level: LogLevel): Logger {
  return format === 'json' ? jsonLogger(level) : textLogger(level, {});
}

function jsonLogger(level: LogLevel): Logger {
  const root = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
  const wrap = (instance: typeof root): Logger => ({
    debug: (message, fields) => instance.debug(plain(fields), message),
    info: (message, fields) => instance.info(plain(fields), message),
    warn: (message, fields) => instance.warn(plain(fields), message),
    error: (message, fields) => instance.error(plain(fields), message),
    with: (fields) => wrap(instance.child(plain(fields))),
  });
  return wrap(root);
}

const marks = { debug: colors.dim('debug'), info: 'info ', warn: colors.yellow('warn '), error: colors.red('error') };

function textLogger(level: LogLevel, bound: LogFields): Logger {
  const write = (lineLevel: LogLevel) => (message: string, fields?: LogFields) => {
    if (logLevels.indexOf(lineLevel) < logLevels.indexOf(level)) return;
    const details = Object.entries(plain({ ...bound, ...fields })).map(
      ([key, value]) => ` ${colors.dim(`${key}=`)}${text(value)}`,
    );
    process.stderr.write(`${marks[lineLevel]} ${message}${details.join('')}\n`);
  };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    with: (fields) => textLogger(level, { ...bound, ...fields }),
  };
}

/** Errors become their message, so that no request, header or token of theirs is ever printed. */
function plain(fields: LogFields = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      value instanceof Error ? `${value.name}: ${value.message}` : value,
    ]),
  );
}

function text(value: unknown): string {
  if (typeof value === 'string') return /[\s"=]/.test(value) ? JSON.stringify(value) : value;
  return JSON.stringify(value) ?? String(value);
}
