import {
  assertNotRejected,
  type Bus,
  type Delivery,
  isLogTruncatedError,
  type PartitionReader,
  readUntilAborted,
  type StreamOffset,
} from '@sluice/bus';
import { decodeMessage, type ResyncRequest } from '@sluice/messages';
import { errorMessage, type Logger } from '@sluice/platform';

export interface ReadResyncRequestsOptions {
  readonly bus: Bus;
  readonly logger: Logger;
  /** Offset of the last answered request, or undefined if unknown. */
  readonly after?: StreamOffset | undefined;
  /**
   * Marks the requested Services dirty and returns their formatted keys. Null means that requests may have been missed,
   * so anything may have been requested.
   */
  readonly onRequest: (request: ResyncRequest | null) => readonly string[];
  /** Publishing these Services answers all requests up to `offset`. Awaited before the next requests are read. */
  readonly onAnswered?: (offset: StreamOffset, services: readonly string[]) => Promise<void> | undefined;
}

const batchSize = 100;

/**
 * Reads resync requests from the offset at which the previous watcher stopped, or else from the end of the log. In the
 * second case `onRequest(null)` answers whatever was requested before the end. It is called after the end is known, since
 * a request appended in between would otherwise be missed.
 */
export async function readResyncRequests(options: ReadResyncRequestsOptions, signal: AbortSignal): Promise<void> {
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
      logger.warn('log of resync requests truncated; resyncing every service', { topic: 'requests', error });
    }
  }
}

async function readAll(reader: PartitionReader, options: ReadResyncRequestsOptions): Promise<void> {
  for (;;) {
    const records = await reader.next(batchSize);
    const last = records.at(-1);
    if (last === undefined) return;
    const services = records.flatMap((record) => answer(record, options));
    await options.onAnswered?.({ offset: last.offset, id: last.id, streamId: reader.streamId }, services);
  }
}

function answer(record: Delivery, { logger, onRequest }: ReadResyncRequestsOptions): readonly string[] {
  const ignore = (reason: string) => {
    logger.error('ignoring invalid resync request', { topic: 'requests', id: record.id, reason });
    return [];
  };
  try {
    assertNotRejected(record);
    const message = decodeMessage(record.payload);
    return message.kind === 'resync' ? onRequest(message) : ignore(`unexpected message kind ${message.kind}`);
  } catch (error) {
    return ignore(errorMessage(error));
  }
}
