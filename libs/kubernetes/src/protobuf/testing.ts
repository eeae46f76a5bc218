import { encodeMessage } from './encode-message.ts';
import { bytes, type MessageType, one, text, wholeMessage } from './message-type.ts';
import { writtenTypes } from './types.ts';
import { WireWriter } from './wire-writer.ts';

/** Only for the tests of this package. */
export function encoded(type: MessageType, object: object): Buffer {
  const writer = new WireWriter();
  if (!encodeMessage(type, object, writer)) throw new Error('the message type cannot hold the object');
  return writer.take();
}

const watchEvent = wholeMessage({ 1: text('type'), 2: one('object', wholeMessage({ 1: bytes('raw') })) });
const envelope = wholeMessage({ 2: bytes('raw') });

/** A field of number 99, which no message has. */
const unknownField = Buffer.from([0x9a, 0x06, 0x01, 0x78]);

/** An object as it stands in an event or an answer. */
export function enveloped(raw: Buffer): Buffer {
  return Buffer.concat([Buffer.from('k8s\0'), encoded(envelope, { raw })]);
}

/** One event of a watch, without its length. */
export function eventOf(type: string, raw: Buffer): Buffer {
  return encoded(watchEvent, { type, object: { raw: enveloped(raw) } });
}

/** One event of a watch of EndpointSlices as it comes; with a field that no version has yet, if asked for. */
export function frameOf(type: string, slice: object, hasUnknown = false): Buffer {
  const raw = encoded(writtenTypes.endpointslices, slice);
  return framed(eventOf(type, hasUnknown ? Buffer.concat([raw, unknownField]) : raw));
}

export function framed(bytes: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(bytes.length);
  return Buffer.concat([head, bytes]);
}
