import { type LogFields, type Logger, type LogLevel, loggerOf } from '../logger.ts';

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  /** Including those bound by `with`. */
  readonly fields: LogFields;
}

export interface RecordingLogger extends Logger {
  /** All lines, oldest first. Clear it to forget them. */
  readonly lines: LogLine[];
  /** Messages at one of the levels. */
  messages(...levels: readonly LogLevel[]): readonly string[];
  /** Fields of the lines at one of the levels. */
  fields(...levels: readonly LogLevel[]): readonly LogFields[];
}

/** A logger that keeps all lines. Loggers derived by `with` add to the same lines. */
export function recordingLogger(lines: LogLine[] = []): RecordingLogger {
  const atLevels = (levels: readonly LogLevel[]) => lines.filter(({ level }) => levels.includes(level));
  return {
    ...loggerOf((level, message, fields) => void lines.push({ level, message, fields })),
    lines,
    messages: (...levels) => atLevels(levels).map(({ message }) => message),
    fields: (...levels) => atLevels(levels).map(({ fields }) => fields),
  };
}
