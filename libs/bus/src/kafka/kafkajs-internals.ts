import type { ConnectionOptions } from 'node:tls';
import type { ISocketFactory, KafkaJSProtocolError, Logger, SASLOptions } from 'kafkajs';
// @ts-expect-error kafkajs publishes no types for this module
import UntypedBroker from 'kafkajs/src/broker/index.js';
// @ts-expect-error kafkajs publishes no types for this module
import UntypedConnectionPool from 'kafkajs/src/network/connectionPool.js';
// @ts-expect-error kafkajs publishes no types for this module
import UntypedRequestQueue from 'kafkajs/src/network/requestQueue/index.js';
// @ts-expect-error kafkajs publishes no types for this module
import UntypedDecoder from 'kafkajs/src/protocol/decoder.js';
// @ts-expect-error kafkajs publishes no types for this module
import UntypedEncoder from 'kafkajs/src/protocol/encoder.js';
// @ts-expect-error kafkajs publishes no types for this module
import untypedErrors from 'kafkajs/src/protocol/error.js';
// @ts-expect-error kafkajs publishes no types for this module
import untypedRecordBatchDecoder from 'kafkajs/src/protocol/recordBatch/v0/decoder.js';
// @ts-expect-error kafkajs publishes no types for this module
import untypedProduceRequest from 'kafkajs/src/protocol/requests/produce/v7/request.js';
// @ts-expect-error kafkajs publishes no types for this module
import untypedProduceResponse from 'kafkajs/src/protocol/requests/produce/v7/response.js';

/**
 * Everything that Sluice uses beneath the public API of kafkajs, whose consumers read only through consumer groups
 * (ADR 0014). No other file imports `kafkajs/src`. The version is pinned, and kafkajs-internals.test.ts fails if an
 * upgrade changes anything this file relies on.
 */

/** A request of the Kafka protocol and its response decoder, as a kafkajs connection takes them. */
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

export interface Encoder {
  readonly buffer: Buffer;
  writeInt8(value: number): this;
  writeInt16(value: number): this;
  writeInt32(value: number): this;
  writeInt64(value: number | string): this;
  writeUVarInt(value: number): this;
  writeUVarIntString(value: string): this;
  writeBufferInternal(value: Buffer): void;
}

export interface Decoder {
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

const EncoderClass: new () => Encoder = UntypedEncoder;
const DecoderClass: new (buffer: Buffer) => Decoder = UntypedDecoder;

export function createEncoder(): Encoder {
  return new EncoderClass();
}

export function createDecoder(buffer: Buffer): Decoder {
  return new DecoderClass(buffer);
}

interface BrokerConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly clientId: string;
  readonly logger: Logger;
  readonly socketFactory: ISocketFactory;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly tls: ConnectionOptions | undefined;
  readonly sasl: SASLOptions | undefined;
}

/** One of the two connections that kafkajs keeps to a broker. */
export type ConnectionIndex = 0 | 1;

interface ConnectionPool {
  getConnection(index: ConnectionIndex): Promise<{ send<T>(request: ProtocolRequest<T>): Promise<T> }>;
}

interface Broker {
  connect(): Promise<void>;
  listOffsets(options: {
    replicaId: number;
    isolationLevel: number;
    topics: { topic: string; partitions: { partition: number; timestamp: string }[] }[];
  }): Promise<{ responses: { partitions: { offset: string }[] }[] }>;
}

const ConnectionPoolClass: new (options: Readonly<Record<string, unknown>>) => ConnectionPool = UntypedConnectionPool;
const BrokerClass: new (options: {
  connectionPool: ConnectionPool;
  logger: Logger;
  authenticationTimeout: number;
}) => Broker = UntypedBroker;

/**
 * The connections to one broker. kafkajs provides framing, TLS, SASL, request timeouts and version negotiation. Requests
 * reject with KafkaJSProtocolError if the broker answers with an error code, and with another error if it does not answer.
 */
export class BrokerConnection {
  readonly #pool: ConnectionPool;
  readonly #broker: Broker;

  constructor({ connectTimeoutMs, requestTimeoutMs, tls, sasl, ...options }: BrokerConnectionOptions) {
    this.#pool = new ConnectionPoolClass({
      ...options,
      connectionTimeout: connectTimeoutMs,
      requestTimeout: requestTimeoutMs,
      enforceRequestTimeout: true,
      ssl: tls ?? null,
      sasl: sasl ?? null,
    });
    const { logger } = options;
    this.#broker = new BrokerClass({ connectionPool: this.#pool, logger, authenticationTimeout: requestTimeoutMs });
  }

  /** Connects, negotiates versions and authenticates. Does nothing if that is done. */
  async connect(): Promise<void> {
    await this.#broker.connect();
  }

  /** Call `connect` first. Opens and authenticates the chosen connection if necessary. */
  async send<T>(request: ProtocolRequest<T>, index: ConnectionIndex): Promise<T> {
    const connection = await this.#pool.getConnection(index);
    return await connection.send(request);
  }

  /** Call `connect` first. `timestamp` -2 asks for the log start offset, -1 for the high watermark. */
  async listOffset(topic: string, partition: number, timestamp: '-2' | '-1'): Promise<number> {
    const topics = [{ topic, partitions: [{ partition, timestamp }] }];
    const { responses } = await this.#broker.listOffsets({ replicaId: -1, isolationLevel: 0, topics });
    return Number(responses[0]?.partitions[0]?.offset);
  }
}

/** A record as the protocol encodes it. */
export interface WireMessage {
  readonly key: string;
  readonly value: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

interface TopicBatches {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly messages: readonly WireMessage[] }[];
}

export interface ProducedBatch {
  readonly partition: number;
  readonly errorCode: number;
  /** Kafka's offset of the first record. */
  readonly baseOffset: string;
}

export interface ProduceResponse {
  readonly topics: readonly { readonly topicName: string; readonly partitions: readonly ProducedBatch[] }[];
}

/** Encodes a Produce v7 request with one record batch per partition, including its CRC. */
export const encodeProduceRequest: (options: {
  acks: number;
  timeout: number;
  topicData: readonly TopicBatches[];
}) => ProtocolRequest<unknown>['request'] = untypedProduceRequest;

export const decodeProduceResponse: (payload: Buffer) => Promise<ProduceResponse> = untypedProduceResponse.decode;

/** A record as the protocol decodes it. */
export interface WireRecord {
  /** Kafka's offset: the first record of a partition has 0. */
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** A header that occurs several times has several values. */
  readonly headers: Readonly<Record<string, Buffer | readonly Buffer[]>>;
}

/** Decodes the record batch at the decoder's position and moves past it. */
export const decodeRecordBatch: (decoder: Decoder) => Promise<{ readonly records: readonly WireRecord[] }> =
  untypedRecordBatchDecoder;

/** The error for a Kafka error code, with its name as `type`. */
export const createErrorFromCode: (code: number) => KafkaJSProtocolError = untypedErrors.createErrorFromCode;

interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

const requestQueue: RequestQueue = UntypedRequestQueue.prototype;
const { scheduleCheckPendingRequests } = requestQueue;

/**
 * After each response, kafkajs 2.2.4 schedules a check of the pending requests. If none are pending it computes a negative
 * timeout, and Node prints a TimeoutNegativeWarning on standard error. The check is unnecessary then.
 */
requestQueue.scheduleCheckPendingRequests = function (this: RequestQueue): void {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
};
