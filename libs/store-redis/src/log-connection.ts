import { errorMessage, type Logger } from '@sluice/runtime';
import type { Client } from './script.ts';

/** Logs once when the connection is lost and once when it is restored. */
export function logConnection(client: Client, connection: string, logger: Logger): void {
  let lost = false;
  client.on('error', (error: unknown) => {
    if (lost) return;
    lost = true;
    logger.warn('Redis unavailable; retrying', { connection, reason: errorMessage(error) });
  });
  client.on('ready', () => {
    if (lost) logger.info('Redis available again', { connection });
    lost = false;
  });
}
