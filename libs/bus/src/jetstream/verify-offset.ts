import { JetStreamApiCodes, JetStreamApiError, type JetStreamManager, type StreamInfo } from '@nats-io/jetstream';
import { LogTruncatedError, type StreamOffset } from '../index.ts';
import { idHeader } from './record-message.ts';

/**
 * Checks that the stream continues after a reader's offset (ADR 0009) and returns the stream id. The reader compares the id
 * of the record at the offset when it reads it.
 *
 * @throws LogTruncatedError if the stream does not continue after the offset
 */
export async function verifyOffset(jsm: JetStreamManager, stream: string, after: StreamOffset): Promise<string> {
  const info = await streamResult(stream, jsm.streams.info(stream));
  const streamId = streamIdOf(info);
  const { first_seq: first, last_seq: last } = info.state;
  const { offset } = after;
  if (after.streamId !== '' && after.streamId !== streamId) {
    throw new LogTruncatedError(`stream ${stream} was deleted and created again at ${info.created}`);
  }
  if (last < offset) {
    throw new LogTruncatedError(
      `stream ${stream} ends at offset ${last}, before offset ${offset}: its last records are lost`,
    );
  }
  if (first > offset + 1) {
    throw new LogTruncatedError(
      `stream ${stream} does not continue after offset ${offset}: it starts at offset ${first}`,
    );
  }
  return streamId;
}

/** The record at the offset has another id: the last records were lost and replaced. */
export function recordMismatch(stream: string, { offset, id }: StreamOffset, found: string): LogTruncatedError {
  return new LogTruncatedError(`stream ${stream} has record ${found} at offset ${offset}, expected ${id}`);
}

/** Just after the last record of the stream. */
export async function endOfStream(jsm: JetStreamManager, stream: string, subject: string): Promise<StreamOffset> {
  const info = await jsm.streams.info(stream);
  const offset = info.state.last_seq;
  const id = offset > 0 ? await recordId(jsm, stream, subject, offset) : undefined;
  return { offset, id: id ?? '', streamId: streamIdOf(info) };
}

/** Just before the first record of the stream. */
export async function startOfStream(jsm: JetStreamManager, stream: string): Promise<StreamOffset> {
  const info = await jsm.streams.info(stream);
  // If all records of a stream are deleted, first_seq is the sequence of the next one.
  return { offset: Math.max(0, info.state.first_seq - 1), id: '', streamId: streamIdOf(info) };
}

/** The creation time: a stream that is deleted and created again has another id. */
function streamIdOf({ created }: StreamInfo): string {
  return String(created);
}

/** Undefined if the record is deleted or was not published to the stream's subject. */
async function recordId(
  jsm: JetStreamManager,
  stream: string,
  subject: string,
  offset: number,
): Promise<string | undefined> {
  const message = await jsm.streams.getMessage(stream, { seq: offset });
  return message?.subject === subject ? message.header.get(idHeader) : undefined;
}

/** Replaces a stream-not-found error with LogTruncatedError. */
export async function streamResult<T>(stream: string, request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) {
      throw new LogTruncatedError(`stream ${stream} does not exist`);
    }
    throw error;
  }
}
