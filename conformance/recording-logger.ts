import type { LogFields, Logger } from '@sluice/runtime';

/** Records log lines. */
export function recordingLogger() {
  const lines: { readonly level: string; readonly message: string; readonly fields: LogFields | undefined }[] = [];
  const at = (level: string) => (message: string, fields?: LogFields) => void lines.push({ level, message, fields });
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: () => logger,
  };
  return {
    logger,
    level: (level: string) => lines.filter((line) => line.level === level).map(({ message }) => message),
    text: () => JSON.stringify(lines),
  };
}
