/**
 * What we use of kafkajs beneath its public API, which reads only through consumer groups. The version is pinned; the
 * contract suite on a genuine broker finds out what an update changes.
 */
declare module 'kafkajs/src/network/connectionPool.js' {
  import type { ConnectionOptions } from 'node:tls';
  import type { ISocketFactory, Logger, SASLOptions } from 'kafkajs';
  import type { ProtocolRequest } from './protocol.ts';

  export interface Connection {
    /** Authenticates first if need be. */
    send<T>(request: ProtocolRequest<T>): Promise<T>;
  }
  export default class ConnectionPool {
    constructor(options: {
      host: string;
      port: number;
      logger: Logger;
      socketFactory: ISocketFactory;
      clientId: string;
      connectionTimeout: number;
      requestTimeout: number;
      enforceRequestTimeout: boolean;
      ssl: ConnectionOptions | null;
      sasl: SASLOptions | null;
    });
    /** Two connections; kafkajs itself keeps the second for fetches. */
    getConnection(index: 0 | 1): Promise<Connection>;
  }
}

declare module 'kafkajs/src/broker/index.js' {
  import type { Logger } from 'kafkajs';
  import type ConnectionPool from 'kafkajs/src/network/connectionPool.js';

  export default class Broker {
    constructor(options: { connectionPool: ConnectionPool; logger: Logger; authenticationTimeout: number });
    readonly connectionPool: ConnectionPool;
    isConnected(): boolean;
    connect(): Promise<void>;
    disconnect(): Promise<void>;
    listOffsets(options: {
      replicaId: number;
      isolationLevel: number;
      topics: { topic: string; partitions: { partition: number; timestamp: string }[] }[];
    }): Promise<{ responses: { topic: string; partitions: { partition: number; offset: string }[] }[] }>;
  }
}

declare module 'kafkajs/src/protocol/encoder.js' {
  export default class Encoder {
    readonly buffer: Buffer;
    writeInt8(value: number): this;
    writeInt16(value: number): this;
    writeInt32(value: number): this;
    writeInt64(value: number | string): this;
    writeUVarInt(value: number): this;
    writeUVarIntString(value: string): this;
    writeBufferInternal(value: Buffer): void;
  }
}

declare module 'kafkajs/src/protocol/decoder.js' {
  export default class Decoder {
    constructor(buffer: Buffer);
    readonly offset: number;
    canReadBytes(length: number): boolean;
    readInt8(): number;
    readInt16(): number;
    readInt32(): number;
    readInt64(): { toString(): string };
    readUVarInt(): number;
    readUVarIntString(): string | null;
    readBytes(length: number): Buffer;
  }
}

declare module 'kafkajs/src/protocol/recordBatch/v0/decoder.js' {
  import type Decoder from 'kafkajs/src/protocol/decoder.js';

  export interface WireRecord {
    readonly offset: string;
    readonly key: Buffer | null;
    readonly value: Buffer | null;
    readonly headers: Readonly<Record<string, Buffer | readonly Buffer[]>>;
    readonly isControlRecord: boolean;
  }
  export default function decodeRecordBatch(decoder: Decoder): Promise<{ readonly records: readonly WireRecord[] }>;
}

declare module 'kafkajs/src/protocol/requests/produce/v7/request.js' {
  import type Encoder from 'kafkajs/src/protocol/encoder.js';

  export interface WireMessage {
    readonly key: string;
    readonly value: Buffer;
    readonly headers: Readonly<Record<string, string>>;
  }
  export interface PartitionBatch {
    readonly partition: number;
    readonly messages: readonly WireMessage[];
  }
  export default function produceRequest(options: {
    acks: number;
    timeout: number;
    topicData: readonly { readonly topic: string; readonly partitions: readonly PartitionBatch[] }[];
  }): { apiKey: number; apiVersion: number; apiName: string; encode: () => Promise<Encoder> };
}

declare module 'kafkajs/src/protocol/requests/produce/v7/response.js' {
  export interface ProduceResponse {
    readonly topics: readonly {
      readonly topicName: string;
      readonly partitions: readonly { readonly partition: number; readonly errorCode: number }[];
    }[];
  }
  export function decode(payload: Buffer): Promise<ProduceResponse>;
}

declare module 'kafkajs/src/protocol/error.js' {
  export function createErrorFromCode(code: number): Error & { type: string; retriable: boolean };
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    readonly pending: readonly unknown[];
    throttledUntil: number;
    scheduleCheckPendingRequests(): void;
  }
}
