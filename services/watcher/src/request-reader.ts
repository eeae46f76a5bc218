import { type Bus, isLogLostError, type PartitionReader, readUntilAborted } from '@sluice/bus';
import { decodeMessage, type ResyncRequest } from '@sluice/messages';
import type { Logger } from '@sluice/runtime';

export interface RequestReaderOptions {
  readonly bus: Bus;
  readonly logger: Logger;
  /** Also called with null: requests may have been passed over, so everything may have been asked for. */
  readonly onRequest: (request: ResyncRequest | null) => void;
}

const requestsRead = 100;

/**
 * Reads what others ask the watchers to tell again, from the end of the log on. What was asked for before is answered by
 * telling everything, which must come after the end is known: a request that comes between would be heard by nobody.
 */
export async function readRequests(options: RequestReaderOptions, signal: AbortSignal): Promise<void> {
  const { bus, logger, onRequest } = options;
  for (;;) {
    try {
      const end = await bus.end('requests', 0);
      onRequest(null);
      return await readUntilAborted(bus.read('requests', 0, end), signal, (reader) => readAll(reader, options));
    } catch (error) {
      if (!isLogLostError(error)) throw error;
      logger.warn('requests to tell again were lost; telling everything again', { reason: error.message });
    }
  }
}

async function readAll(reader: PartitionReader, { logger, onRequest }: RequestReaderOptions): Promise<void> {
  for (;;) {
    const records = await reader.next(requestsRead);
    if (records.length === 0) return;
    for (const { id, payload } of records) {
      try {
        const message = decodeMessage(payload);
        if (message.kind === 'resync') onRequest(message);
        else logger.error('request ignored', { id, reason: `${message.kind} among requests` });
      } catch (error) {
        logger.error('request ignored', { id, reason: error instanceof Error ? error.message : String(error) });
      }
    }
  }
}
