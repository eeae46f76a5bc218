import type Decoder from 'kafkajs/src/protocol/decoder.js';
import type Encoder from 'kafkajs/src/protocol/encoder.js';

/** A request of Kafka's protocol with the way to read its response, as kafkajs's connections take it. */
export interface ProtocolRequest<T> {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    readonly encode: () => Promise<Encoder>;
  };
  readonly response: {
    readonly decode: (payload: Buffer) => Promise<T>;
    readonly parse: (decoded: T) => Promise<T>;
  };
}

/** The error codes that we treat apart from the others. */
export const errorCode = {
  none: 0,
  offsetOutOfRange: 1,
  unknownTopicOrPartition: 3,
  messageTooLarge: 10,
  recordListTooLarge: 18,
  topicAuthorizationFailed: 29,
  clusterAuthorizationFailed: 31,
} as const;

/** Topic ids are UUIDs; their text is only ever compared. */
export const topicIdBytes = 16;

/** The newer ("flexible") versions end each header and structure with fields that may come in later versions. */
export function writeNoTaggedFields(encoder: Encoder): Encoder {
  return encoder.writeUVarInt(0);
}

/** kafkajs's own reader of these takes one byte too few. */
export function skipTaggedFields(decoder: Decoder): void {
  for (let left = decoder.readUVarInt(); left > 0; left--) {
    decoder.readUVarInt();
    decoder.readBytes(decoder.readUVarInt());
  }
}

/** The length of a compact array or of compact bytes; null counts as empty. */
export function readCompactLength(decoder: Decoder): number {
  return Math.max(0, decoder.readUVarInt() - 1);
}

export function readCompactArray<T>(decoder: Decoder, read: (decoder: Decoder) => T): T[] {
  return Array.from({ length: readCompactLength(decoder) }, () => read(decoder));
}
