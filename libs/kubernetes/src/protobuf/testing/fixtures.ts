import { decodeMessage } from '../decode-message.ts';
import { encodeMessage } from '../encode-message.ts';
import { openEnvelope } from '../envelope.ts';
import { bytes, type MessageType, one, projectionOf, stringMap, text, wholeMessage } from '../message-type.ts';
import { TextTable } from '../text-table.ts';
import { statusType, writtenTypes } from '../types.ts';
import { WireWriter } from '../wire-writer.ts';

const watchEventType = wholeMessage({ 1: text('type'), 2: one('object', wholeMessage({ 1: bytes('raw') })) });
const envelopeType = wholeMessage({ 2: bytes('raw') });
const bookmarkType = wholeMessage({
  1: one('metadata', wholeMessage({ 6: text('resourceVersion'), 12: stringMap('annotations') })),
});
const typeMetaType = projectionOf({ 1: one('typeMeta', projectionOf({ 1: text('apiVersion'), 2: text('kind') })) });

/** Field number 99, which no message type has. */
const unknownField = Buffer.from([0x9a, 0x06, 0x01, 0x78]);

/** Throws if the message type cannot hold the object. */
export function encoded(type: MessageType, object: object): Buffer {
  const writer = new WireWriter();
  if (!encodeMessage(type, object, writer)) throw new Error('the message type cannot hold the object');
  return writer.take();
}

export const encodedSlice = (slice: object): Buffer => encoded(writtenTypes.endpointslices, slice);
export const encodedStatus = (status: object): Buffer => encoded(statusType, status);
export const encodedBookmark = (metadata: object): Buffer => encoded(bookmarkType, { metadata });

export function enveloped(raw: Buffer): Buffer {
  return Buffer.concat([Buffer.from('k8s\0'), encoded(envelopeType, { raw })]);
}

/** A WatchEvent without its length prefix. `raw` is the encoded object. */
export function encodedWatchEvent(type: string, raw: Buffer): Buffer {
  return encoded(watchEventType, { type, object: { raw: enveloped(raw) } });
}

/** One frame of a watch of EndpointSlices, optionally with a field that no version of the API has. */
export function sliceFrame(type: string, slice: object, hasUnknownField = false): Buffer {
  const raw = encodedSlice(slice);
  return framed(encodedWatchEvent(type, hasUnknownField ? Buffer.concat([raw, unknownField]) : raw));
}

/** Adds the four-byte length prefix. */
export function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(message.length);
  return Buffer.concat([prefix, message]);
}

/** Decodes Endpoints or an EndpointSlice from the body of a write, in the shape of its JSON. */
export function decodeWritten(body: Buffer): object {
  const texts = new TextTable();
  const { typeMeta } = decodeMessage(typeMetaType, body.subarray(4), texts).object;
  const { kind } = typeMeta as { kind: string };
  const type = kind === 'Endpoints' ? writtenTypes.endpoints : writtenTypes.endpointslices;
  return { ...(typeMeta as object), ...decodeMessage(type, openEnvelope(body, texts), texts).object };
}
