import { eventOccurred } from '@sluice/kubernetes';
import { type Logger, loggerOf } from '@sluice/platform';

/** Logs Kubernetes Events at `debug`: a demo shows the writes that they are about, and lines between them would confuse. */
export const demoLogger = (logger: Logger): Logger =>
  loggerOf((level, message, fields) => logger[message === eventOccurred ? 'debug' : level](message, fields));
