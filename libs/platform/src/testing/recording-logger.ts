import type { LogFields, Logger } from '../logger.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  /** Including those bound by `with`. */
  readonly fields: LogFields;
}

export interface RecordingLogger extends Logger {
  /** All lines, oldest first. Clear it to forget them. */
  readonly lines: LogLine[];
  /** Messages at one of the levels. */
  messages(...levels: readonly LogLine['level'][]): readonly string[];
  /** Fields of the lines at one of the levels. */
  fields(...levels: readonly LogLine['level'][]): readonly LogFields[];
}

/** A logger that keeps all lines. Loggers derived by `with` add to the same lines. */
export function recordingLogger(lines: LogLine[] = [], bound: LogFields = {}): RecordingLogger {
  const at =
    (level: LogLine['level']) =>
    (message: string, fields: LogFields = {}) =>
      void lines.push({ level, message, fields: { ...bound, ...fields } });
  const atLevels = (levels: readonly LogLine['level'][]) => lines.filter(({ level }) => levels.includes(level));
  return {
    ...{ lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    with: (fields) => recordingLogger(lines, { ...bound, ...fields }),
    messages: (...levels) => atLevels(levels).map(({ message }) => message),
    fields: (...levels) => atLevels(levels).map(({ fields }) => fields),
  };
}
