import type { Decoder, Encoder } from './kafkajs-internals.ts';

/** The Kafka error codes that Sluice handles individually. */
export const errorCode = {
  none: 0,
  offsetOutOfRange: 1,
  unknownTopicOrPartition: 3,
  messageTooLarge: 10,
  recordListTooLarge: 18,
  topicAuthorizationFailed: 29,
  clusterAuthorizationFailed: 31,
  invalidTimestamp: 32,
  invalidRecord: 87,
} as const;

/** Length of a topic id (a UUID). Sluice keeps topic ids as hex text and only compares them. */
export const topicIdBytes = 16;

/** Flexible request versions (KIP-482) end the header and every structure with tagged fields. Sluice sends none. */
export function writeNoTaggedFields(encoder: Encoder): Encoder {
  return encoder.writeUVarInt(0);
}

/** Skips the tagged fields of a flexible version. The reader that kafkajs has for them skips one byte too few. */
export function skipTaggedFields(decoder: Decoder): void {
  for (let left = decoder.readUVarInt(); left > 0; left--) {
    decoder.readUVarInt();
    decoder.readBytes(decoder.readUVarInt());
  }
}

/** Reads the length of a compact array or of compact bytes. Null counts as empty. */
export function readCompactLength(decoder: Decoder): number {
  return Math.max(0, decoder.readUVarInt() - 1);
}

export function readCompactArray<T>(decoder: Decoder, read: (decoder: Decoder) => T): T[] {
  return Array.from({ length: readCompactLength(decoder) }, () => read(decoder));
}
