import { JetStreamApiCodes, JetStreamApiError, type JetStreamManager, type StreamInfo } from '@nats-io/jetstream';
import { LogTruncatedError, type StreamOffset } from '@sluice/bus';
import { idHeader } from './record-message.ts';

/**
 * Compares a reader's cursor with the stream (ADR 0009) and returns the stream's incarnation. Whether the record there is
 * the one that the cursor names is seen when it is read.
 *
 * @throws LogLostError when the stream does not go on from the cursor
 */
export async function verifyLog(jsm: JetStreamManager, stream: string, cursor: StreamOffset): Promise<string> {
  const info = await ofStream(stream, jsm.streams.info(stream));
  const log = incarnation(info);
  const { first_seq: first, last_seq: last } = info.state;
  const { offset } = cursor;
  if (cursor.streamId !== '' && cursor.streamId !== log) {
    throw new LogTruncatedError(`stream ${stream} was made anew at ${info.created}: what was read is not in it`);
  }
  if (last < offset) {
    throw new LogTruncatedError(`stream ${stream} ends at ${last}, before offset ${offset}: its last records are lost`);
  }
  if (first > offset + 1) {
    throw new LogTruncatedError(`stream ${stream} begins at ${first}: what follows offset ${offset} is gone`);
  }
  return log;
}

/** The record at the cursor is not the one that was read there: the last records were lost, and others took their place. */
export function wrongRecord(stream: string, { offset, id }: StreamOffset, found: string): LogTruncatedError {
  return new LogTruncatedError(`stream ${stream} has record ${found} at offset ${offset}, not ${id}`);
}

/** Just after the last record of the stream. */
export async function endOfStream(jsm: JetStreamManager, stream: string): Promise<StreamOffset> {
  const info = await jsm.streams.info(stream);
  const offset = info.state.last_seq;
  const id = offset > 0 ? await recordId(jsm, stream, offset) : undefined;
  return { offset, id: id ?? '', streamId: incarnation(info) };
}

/** Just before the first record of the stream. */
export async function oldestOfStream(jsm: JetStreamManager, stream: string): Promise<StreamOffset> {
  const info = await jsm.streams.info(stream);
  // An empty stream that held records says that the next one would be its first.
  return { offset: Math.max(0, info.state.first_seq - 1), id: '', streamId: incarnation(info) };
}

/** A stream that was deleted and made again has another one. */
function incarnation({ created }: StreamInfo): string {
  return String(created);
}

/** Undefined when the record is not kept any more. */
async function recordId(jsm: JetStreamManager, stream: string, offset: number): Promise<string | undefined> {
  const message = await jsm.streams.getMessage(stream, { seq: offset });
  return message?.header.get(idHeader);
}

/** Turns the answer that there is no such stream into a LogLostError. */
export async function ofStream<T>(stream: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) {
      throw new LogTruncatedError(`stream ${stream} does not exist any more`);
    }
    throw error;
  }
}
