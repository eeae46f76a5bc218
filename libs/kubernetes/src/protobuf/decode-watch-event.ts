import { decodeMessage } from './decode-message.ts';
import { decodeStatus, openEnvelope } from './envelope.ts';
import { bytes, one, projectionOf, text } from './message-type.ts';
import type { TextTable } from './text-table.ts';
import { bookmarkType, type WatchedResource, watchedTypes } from './types.ts';

export interface DecodedWatchEvent {
  /** `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`, as the server sent it. */
  readonly type: string;
  /** In the shape of its JSON; a Status if `type` is `ERROR`. */
  readonly object: Readonly<Record<string, unknown>>;
  /** The object has a field that this codec does not know, and Sluice writes such objects back whole. */
  readonly isPartial: boolean;
}

const watchEventType = projectionOf({ 1: text('type'), 2: one('object', projectionOf({ 1: bytes('raw') })) });

/** Decodes one frame of a watch, a meta/v1 WatchEvent. Throws MalformedProtobufError. */
export function decodeWatchEvent(resource: WatchedResource, frame: Buffer, texts: TextTable): DecodedWatchEvent {
  const event = decodeMessage(watchEventType, frame, texts).object as { type?: string; object?: { raw?: Buffer } };
  const { type = '', object: { raw = Buffer.alloc(0) } = {} } = event;
  if (type === 'ERROR') return { type, object: decodeStatus(raw, texts), isPartial: false };
  const messageType = type === 'BOOKMARK' ? bookmarkType : watchedTypes[resource];
  return { type, ...decodeMessage(messageType, openEnvelope(raw, texts), texts) };
}
