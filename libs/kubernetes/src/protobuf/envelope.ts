import type { WrittenResource } from '@sluice/controllers';
import { apiVersion, resourceInfo } from '../resources.ts';
import { decodeMessage } from './decode-message.ts';
import { encodeMessage } from './encode-message.ts';
import { bytes, type MessageType, one, projectionOf, text, wholeMessage } from './message-type.ts';
import type { TextTable } from './text-table.ts';
import { statusType, writtenTypes } from './types.ts';
import { NotProtobuf } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

export const protobufMediaType = 'application/vnd.kubernetes.protobuf';

/** What every object begins with; after it comes `runtime.Unknown`, which says what it is and has its bytes. */
const magic = Buffer.from('k8s\0');
const typeMetaType = wholeMessage({ 1: text('apiVersion'), 2: text('kind') });
const readEnvelope = projectionOf({ 2: bytes('raw') });
const writtenEnvelopes: Readonly<Record<WrittenResource, MessageType>> = {
  endpoints: envelopeOf(writtenTypes.endpoints),
  endpointslices: envelopeOf(writtenTypes.endpointslices),
};

/** The message of the object itself. Throws NotProtobuf. */
export function openEnvelope(enveloped: Buffer, texts: TextTable): Buffer {
  if (!enveloped.subarray(0, magic.length).equals(magic)) throw new NotProtobuf('it does not begin as an object does');
  const { raw } = decodeMessage(readEnvelope, enveloped.subarray(magic.length), texts).object;
  return Buffer.isBuffer(raw) ? raw : Buffer.alloc(0);
}

/** A refusal in the shape of its JSON. Throws NotProtobuf. */
export function decodeStatus(enveloped: Buffer, texts: TextTable): Readonly<Record<string, unknown>> {
  return { kind: 'Status', ...decodeMessage(statusType, openEnvelope(enveloped, texts), texts).object };
}

const writer = new WireWriter();

/** Undefined if the object has a field that this program does not know: as JSON nothing of it is lost. */
export function encodeObject(resource: WrittenResource, object: object): Buffer | undefined {
  const { apiVersion: _apiVersion, kind: _kind, ...raw } = object as Partial<Record<'apiVersion' | 'kind', unknown>>;
  const typeMeta = { apiVersion: apiVersion(resource), kind: resourceInfo[resource].kind };
  const isWhole = encodeMessage(writtenEnvelopes[resource], { typeMeta, raw }, writer);
  writer.bytes(magic);
  const encoded = writer.take();
  return isWhole ? encoded : undefined;
}

function envelopeOf(type: MessageType): MessageType {
  return wholeMessage({ 1: one('typeMeta', typeMetaType), 2: one('raw', type) });
}
