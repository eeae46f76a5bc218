import { JetStreamApiCodes, JetStreamApiError, type JetStreamManager, type StreamInfo } from '@nats-io/jetstream';
import { type Cursor, LogLostError } from '@sluice/bus';
import { idHeader } from './record-message.ts';

/**
 * Compares a reader's cursor with the stream (ADR 0009) and returns the stream's incarnation. Whether the record there is
 * the one that the cursor names is seen when it is read.
 *
 * @throws LogLostError when the stream does not go on from the cursor
 */
export async function verifyLog(jsm: JetStreamManager, stream: string, cursor: Cursor): Promise<string> {
  const info = await ofStream(stream, jsm.streams.info(stream));
  const log = incarnation(info);
  const { first_seq: first, last_seq: last } = info.state;
  const { position } = cursor;
  if (cursor.log !== '' && cursor.log !== log) {
    throw new LogLostError(`stream ${stream} was made anew at ${info.created}: what was read is not in it`);
  }
  if (last < position) {
    throw new LogLostError(`stream ${stream} ends at ${last}, before position ${position}: its last records are lost`);
  }
  if (first > position + 1) {
    throw new LogLostError(`stream ${stream} begins at ${first}: what follows position ${position} is gone`);
  }
  return log;
}

/** The record at the cursor is not the one that was read there: the last records were lost, and others took their place. */
export function wrongRecord(stream: string, { position, id }: Cursor, found: string): LogLostError {
  return new LogLostError(`stream ${stream} has record ${found} at position ${position}, not ${id}`);
}

/** Just after the last record of the stream. */
export async function endOfStream(jsm: JetStreamManager, stream: string): Promise<Cursor> {
  const info = await jsm.streams.info(stream);
  const position = info.state.last_seq;
  const id = position > 0 ? await recordId(jsm, stream, position) : undefined;
  return { position, id: id ?? '', log: incarnation(info) };
}

/** Just before the first record of the stream. */
export async function oldestOfStream(jsm: JetStreamManager, stream: string): Promise<Cursor> {
  const info = await jsm.streams.info(stream);
  // An empty stream that held records says that the next one would be its first.
  return { position: Math.max(0, info.state.first_seq - 1), id: '', log: incarnation(info) };
}

/** A stream that was deleted and made again has another one. */
function incarnation({ created }: StreamInfo): string {
  return String(created);
}

/** Undefined when the record is not kept any more. */
async function recordId(jsm: JetStreamManager, stream: string, position: number): Promise<string | undefined> {
  const message = await jsm.streams.getMessage(stream, { seq: position });
  return message?.header.get(idHeader);
}

/** Turns the answer that there is no such stream into a LogLostError. */
export async function ofStream<T>(stream: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) {
      throw new LogLostError(`stream ${stream} does not exist any more`);
    }
    throw error;
  }
}
