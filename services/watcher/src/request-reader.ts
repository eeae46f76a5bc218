import {
  type Bus,
  type Delivery,
  isLogTruncatedError,
  type PartitionReader,
  readUntilAborted,
  type StreamOffset,
} from '@sluice/bus';
import { decodeMessage, type ResyncRequest } from '@sluice/messages';
import type { Logger } from '@sluice/runtime';

export interface RequestReaderOptions {
  readonly bus: Bus;
  readonly logger: Logger;
  /** Up to where requests were answered; undefined if that is not known. */
  readonly after?: StreamOffset | undefined;
  /**
   * Also called with null: requests may have been passed over, so everything may have been asked for. Returns the
   * Services, as formatted keys, that will be told.
   */
  readonly onRequest: (request: ResyncRequest | null) => readonly string[];
  /** Requests up to the cursor are answered by telling these; awaited before more are read. */
  readonly onAnswered?: (cursor: StreamOffset, services: readonly string[]) => Promise<void> | undefined;
}

const requestsRead = 100;

/**
 * Reads what others ask the watchers to tell again: from where the last watcher stopped, or from the end of the log on.
 * What was asked for before the end is then answered by telling everything, which must come after the end is known: a
 * request that comes between would be heard by nobody.
 */
export async function readRequests(options: RequestReaderOptions, signal: AbortSignal): Promise<void> {
  const { bus, logger, onRequest, onAnswered } = options;
  for (let { after } = options; ; after = undefined) {
    try {
      if (after === undefined) {
        after = await bus.end('requests', 0);
        await onAnswered?.(after, onRequest(null));
      }
      return await readUntilAborted(bus.read('requests', 0, after), signal, (reader) => readAll(reader, options));
    } catch (error) {
      if (!isLogTruncatedError(error)) throw error;
      logger.warn('requests to tell again were lost; telling everything again', { reason: error.message });
    }
  }
}

async function readAll(reader: PartitionReader, options: RequestReaderOptions): Promise<void> {
  for (;;) {
    const records = await reader.next(requestsRead);
    const last = records.at(-1);
    if (last === undefined) return;
    const services = records.flatMap((record) => answer(record, options));
    await options.onAnswered?.({ offset: last.offset, id: last.id, streamId: reader.streamId }, services);
  }
}

function answer({ id, payload }: Delivery, { logger, onRequest }: RequestReaderOptions): readonly string[] {
  try {
    const message = decodeMessage(payload);
    if (message.kind === 'resync') return onRequest(message);
    logger.error('request ignored', { id, reason: `${message.kind} among requests` });
  } catch (error) {
    logger.error('request ignored', { id, reason: error instanceof Error ? error.message : String(error) });
  }
  return [];
}
