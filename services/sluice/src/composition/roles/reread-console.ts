import { createSecureContext } from 'node:tls';
import type { Configuration } from '@sluice/fleet/configuration';
import { type Clock, errorMessage, type Logger } from '@sluice/platform';

export type ConsoleSecrets = Pick<Configuration['console'], 'token' | 'tls'>;

/** How often the configuration is read again, as kubeconfigs are. */
const intervalMs = 60_000;

/**
 * Reads the console's token and certificate again every minute, and applies those that have changed, until the returned
 * function is called. What was not set at start is not added, and what was set is not removed: that would open
 * or close the console. If the configuration is invalid, for example while a file is replaced, the previous secrets stay in use.
 */
export function rereadConsole({
  initial,
  reread,
  apply,
  clock,
  logger,
}: {
  readonly initial: ConsoleSecrets;
  readonly reread: () => { readonly console: ConsoleSecrets };
  readonly apply: (secrets: ConsoleSecrets) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}): () => void {
  let current = initial;
  const read = () => {
    cancel = clock.schedule(intervalMs, read);
    try {
      const { token, tls } = reread().console;
      const next = {
        token: current.token === undefined ? undefined : (token ?? current.token),
        tls: current.tls === undefined ? undefined : (tls ?? current.tls),
      };
      if (next.token === current.token && isSame(next.tls, current.tls)) return;
      // Throws if certificate and key do not match, as between the replacements of their files.
      if (next.tls !== undefined) createSecureContext(next.tls);
      apply(next);
      current = next;
      logger.info('secrets of the console replaced');
    } catch (error) {
      const reason = errorMessage(error);
      logger.warn('cannot reread configuration; keeping the previous secrets', { section: 'console', reason });
    }
  };
  let cancel = clock.schedule(intervalMs, read);
  return () => cancel();
}

function isSame(a: ConsoleSecrets['tls'], b: ConsoleSecrets['tls']): boolean {
  return a?.cert === b?.cert && a?.key === b?.key;
}
