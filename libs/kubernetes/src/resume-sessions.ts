import type { Clock } from '@sluice/platform';
import type { buildConnector } from 'undici';

type Connector = buildConnector.connector;

/** Longest wait for the session after the first handshake, in milliseconds. Servers send it right away, or never. */
const ticketMs = 20;
/** Longest wait for the first connection, in milliseconds. A server that does not answer must not delay the others further. */
const firstMs = 500;

/**
 * Has all TLS connections wait for the session of the first one, which undici's connector then resumes. At a start a dozen
 * connections are opened at once; resuming spares both sides the certificates, most of the cost of a handshake.
 */
export function resumeSessions(connect: Connector, clock: Clock): Connector {
  let first: 'none' | 'open' | Promise<void> = 'none';
  return (options, callback) => {
    if (options.protocol !== 'https:' || first === 'open') return connect(options, callback);
    if (first !== 'none') return void first.then(() => connect(options, callback));
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancels = [clock.schedule(firstMs, resolve)];
    first = promise.then(() => {
      first = 'open';
      for (const cancel of cancels) cancel();
    });
    connect(options, (...outcome) => {
      const [error, socket] = outcome;
      if (error === null) {
        socket.once('session', () => resolve());
        socket.once('close', () => resolve());
        cancels.push(clock.schedule(ticketMs, resolve));
      } else resolve();
      callback(...outcome);
    });
  };
}
