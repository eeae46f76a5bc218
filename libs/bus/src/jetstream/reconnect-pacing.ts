import type { ConnectionOptions } from '@nats-io/nats-core';
import type { Clock, Random } from '@sluice/platform';

/** Between two attempts to reach one server: about five per second, jittered. */
const betweenMs = { min: 100, jitter: 200 };

/**
 * Paces connection attempts on the monotonic clock. The NATS client uses the system clock: set back by an hour, it would not
 * try again for an hour.
 */
export function reconnectPacing(
  clock: Clock,
  random: Random,
): Pick<ConnectionOptions, 'reconnectDelayHandler' | 'reconnectToServer'> {
  const attemptedAt = new Map<string, number>();
  return {
    // For the client, an attempt is always due.
    reconnectDelayHandler: () => Number.NEGATIVE_INFINITY,
    reconnectToServer: ([server]) => {
      if (server === undefined) return null;
      const now = clock.monotonic();
      const last = attemptedAt.get(server.listen) ?? Number.NEGATIVE_INFINITY;
      const delay = Math.ceil(Math.max(0, last + betweenMs.min + random.next() * betweenMs.jitter - now));
      attemptedAt.set(server.listen, now + delay);
      return { server, delay };
    },
  };
}
