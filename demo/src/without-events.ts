import { eventOccurred } from '@sluice/kubernetes';
import type { Logger } from '@sluice/platform';

/** Logs Kubernetes Events only at the level debug: between the writes that the demo shows, they look like errors. */
export function withoutEvents(logger: Logger): Logger {
  return {
    ...logger,
    info(message, fields) {
      if (message === eventOccurred) logger.debug(message, fields);
      else logger.info(message, fields);
    },
    with: (fields) => withoutEvents(logger.with(fields)),
  };
}
