import type { Resource } from '../cluster.ts';
import { errorFromStatus } from '../status.ts';
import { type WatchLine, watchLineOf } from '../watch-line.ts';
import { decodeMessage } from './decode-message.ts';
import { decodeStatus, openEnvelope } from './envelope.ts';
import { bytes, one, projectionOf, text } from './message-type.ts';
import type { TextTable } from './text-table.ts';
import { bookmarkType, watchedTypes } from './types.ts';
import { NotProtobuf } from './wire-reader.ts';

/** What one frame of a watch says, or that it says more than this program knows of a resource that it writes. */
export type WatchFrame = WatchLine | { readonly kind: 'partial' };

const watchEvent = projectionOf({ 1: text('type'), 2: one('object', projectionOf({ 1: bytes('raw') })) });

/** `now` is in milliseconds since the epoch. */
export function parseWatchFrame(resource: Resource, frame: Buffer, texts: TextTable, now: number): WatchFrame {
  try {
    const event = decodeMessage(watchEvent, frame, texts).object as { type?: string; object?: { raw?: Buffer } };
    const { type = '', object: { raw = Buffer.alloc(0) } = {} } = event;
    if (type === 'ERROR') return { kind: 'error', error: errorFromStatus(decodeStatus(raw, texts), now) };
    const messageType = type === 'BOOKMARK' ? bookmarkType : watchedTypes[resource];
    const { object, isPartial } = decodeMessage(messageType, openEnvelope(raw, texts), texts);
    return isPartial ? { kind: 'partial' } : watchLineOf(resource, type, object);
  } catch (error) {
    if (!(error instanceof NotProtobuf)) throw error;
    return {
      kind: 'skipped',
      skipped: { resource, namespace: '', name: '', why: `it is no protobuf: ${error.message}` },
    };
  }
}
