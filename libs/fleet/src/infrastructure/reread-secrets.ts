import { errorMessage, type Logger } from '@sluice/platform';
import type { Configuration } from '../configuration/index.ts';

type Backends = Pick<Configuration, 'bus' | 'store'>;

interface RereadPorts {
  readonly logger: Logger;
  readonly reread?: (() => Backends) | undefined;
}

/**
 * Returns the current settings of a bus or store, of which a new connection takes the secrets. If the configuration cannot
 * be read, for example while a file is being replaced, it returns the last valid ones.
 */
export function rereadSecrets<K extends keyof Backends, T extends Backends[K]>(
  section: K,
  initial: T,
  { reread, logger }: RereadPorts,
): (() => T) | undefined {
  if (reread === undefined) return undefined;
  let current = initial;
  const isSameKind = (settings: Backends[K]): settings is T => settings.kind === initial.kind;
  return () => {
    try {
      const settings = reread()[section];
      if (isSameKind(settings)) current = settings;
    } catch (error) {
      logger.warn('cannot reread configuration; keeping the previous secrets', {
        section,
        reason: errorMessage(error),
      });
    }
    return current;
  };
}
