import type { WrittenResource } from '@sluice/model';
import { decodeMessage } from './decode-message.ts';
import { encodeMessage } from './encode-message.ts';
import { bytes, type MessageType, one, projectionOf, text, wholeMessage } from './message-type.ts';
import type { TextTable } from './text-table.ts';
import {
  bookmarkType,
  statusType,
  storedMetadataType,
  type WatchedResource,
  watchedTypes,
  writtenTypes,
} from './types.ts';
import { MalformedProtobufError } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

export const protobufMediaType = 'application/vnd.kubernetes.protobuf';

/** Every encoded object starts with this prefix; a `runtime.Unknown` with the object's type and bytes follows. */
const magic = Buffer.from('k8s\0');
const typeMetaType = wholeMessage({ 1: text('apiVersion'), 2: text('kind') });
const readEnvelope = projectionOf({ 2: bytes('raw') });
const writtenEnvelopes: Readonly<Record<WrittenResource, MessageType>> = {
  endpoints: envelopeOf(writtenTypes.endpoints),
  endpointslices: envelopeOf(writtenTypes.endpointslices),
};
const typeMetas: Readonly<Record<WrittenResource, { readonly apiVersion: string; readonly kind: string }>> = {
  endpoints: { apiVersion: 'v1', kind: 'Endpoints' },
  endpointslices: { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
};

/** Returns the bytes of the object inside its envelope. Throws MalformedProtobufError. */
export function openEnvelope(enveloped: Buffer, texts: TextTable): Buffer {
  if (!enveloped.subarray(0, magic.length).equals(magic)) throw new MalformedProtobufError('missing the k8s prefix');
  const { raw } = decodeMessage(readEnvelope, enveloped.subarray(magic.length), texts).object;
  return Buffer.isBuffer(raw) ? raw : Buffer.alloc(0);
}

/** Decodes a Status into the shape of its JSON. Throws MalformedProtobufError. */
export function decodeStatus(enveloped: Buffer, texts: TextTable): Readonly<Record<string, unknown>> {
  return { kind: 'Status', ...decodeMessage(statusType, openEnvelope(enveloped, texts), texts).object };
}

/** Decodes the response to a write: `metadata` with what the server has set. Throws MalformedProtobufError. */
export function decodeStoredMetadata(enveloped: Buffer, texts: TextTable): Readonly<Record<string, unknown>> {
  return decodeMessage(storedMetadataType, openEnvelope(enveloped, texts), texts).object;
}

const writer = new WireWriter();

/** Returns undefined if the object has a field that this codec does not know. Send it as JSON then, which loses nothing. */
export function encodeObject(resource: WrittenResource, object: object): Buffer | undefined {
  const { apiVersion: _apiVersion, kind: _kind, ...raw } = object as Partial<Record<'apiVersion' | 'kind', unknown>>;
  const isWhole = encodeMessage(writtenEnvelopes[resource], { typeMeta: typeMetas[resource], raw }, writer);
  writer.bytes(magic);
  const encoded = writer.take();
  return isWhole ? encoded : undefined;
}

function envelopeOf(type: MessageType): MessageType {
  return wholeMessage({ 1: one('typeMeta', typeMetaType), 2: one('raw', type) });
}

interface DecodedWatchEvent {
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
