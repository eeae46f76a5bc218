import { createServer, type Server, type Socket } from 'node:net';
import type { SASLOptions } from 'kafkajs';
import kafkajs from 'kafkajs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Sockets } from './brokers.ts';
import {
  BrokerConnection,
  createDecoder,
  createEncoder,
  createErrorFromCode,
  decodeProduceResponse,
  decodeRecordBatch,
  encodeProduceRequest,
  type ProtocolRequest,
} from './kafkajs-internals.ts';

/** Checks each internal of kafkajs that Sluice relies on. If one fails after an upgrade, adapt kafkajs-internals.ts. */

describe('Encoder', () => {
  test.each([
    ['writeInt8', createEncoder().writeInt8(-2), 'fe'],
    ['writeInt16', createEncoder().writeInt16(0x0102), '0102'],
    ['writeInt32', createEncoder().writeInt32(-1), 'ffffffff'],
    ['writeInt64', createEncoder().writeInt64(2 ** 40 + 3), '0000010000000003'],
    ['writeUVarInt', createEncoder().writeUVarInt(300), 'ac02'],
    ['writeUVarIntString', createEncoder().writeUVarIntString('ab'), '036162'],
  ])('%s appends big-endian bytes', (_, { buffer }, hex) => {
    expect(buffer.toString('hex')).toBe(hex);
  });

  test('writeBufferInternal appends bytes without a length', () => {
    const encoder = createEncoder().writeInt8(1);
    encoder.writeBufferInternal(Buffer.from([2, 3]));
    expect(encoder.writeInt8(4).buffer.toString('hex')).toBe('01020304');
  });
});

describe('Decoder', () => {
  const decode = (hex: string) => createDecoder(Buffer.from(hex, 'hex'));

  test('reads what Encoder writes, and keeps its offset', () => {
    const decoder = decode('fe0102ffffffff0000010000000003ac02036162');
    expect(decoder.readInt8()).toBe(-2);
    expect(decoder.readInt16()).toBe(0x0102);
    expect(decoder.readInt32()).toBe(-1);
    expect(decoder.readInt64().toString()).toBe(String(2 ** 40 + 3));
    expect(decoder.readUVarInt()).toBe(300);
    expect(decoder.offset).toBe(17);
    expect(decoder.readUVarIntString()).toBe('ab');
    expect(decoder.offset).toBe(20);
  });

  test('readUVarIntString returns null for length 0', () => {
    expect(decode('00').readUVarIntString()).toBeNull();
  });

  test('canReadBytes and readBytes count from the offset', () => {
    const decoder = decode('010203');
    decoder.readInt8();
    expect([decoder.canReadBytes(2), decoder.canReadBytes(3)]).toEqual([true, false]);
    expect(decoder.readBytes(2).toString('hex')).toBe('0203');
  });
});

describe('encodeProduceRequest', () => {
  const messages = [
    { key: 'k1', value: Buffer.from('v1'), headers: { a: 'x' } },
    { key: 'k2', value: Buffer.from('v2'), headers: {} },
  ];
  const { apiKey, apiVersion, encode } = encodeProduceRequest({
    acks: -1,
    timeout: 5_000,
    topicData: [{ topic: 't', partitions: [{ partition: 7, messages }] }],
  });

  test('encodes Produce v7 without transaction or producer id', async () => {
    expect([apiKey, apiVersion]).toEqual([0, 7]);
    const decoder = createDecoder((await encode()).buffer);
    expect(decoder.readInt16()).toBe(-1); // transactional id: null
    expect(decoder.readInt16()).toBe(-1); // acks
    expect(decoder.readInt32()).toBe(5_000);
    expect([decoder.readInt32(), decoder.readInt16(), decoder.readBytes(1).toString()]).toEqual([1, 1, 't']);
    expect([decoder.readInt32(), decoder.readInt32()]).toEqual([1, 7]);
    const batch = decoder.readBytes(decoder.readInt32());
    expect(decoder.canReadBytes(1)).toBe(false);
    expect(batch.readInt8(16)).toBe(2); // record batch format
    expect(batch.readUInt32BE(17)).toBe(crc32c(batch.subarray(21)));
    expect(batch.readBigInt64BE(43)).toBe(-1n); // producer id
  });

  test('encodes batches that decodeRecordBatch reads, with absolute offsets', async () => {
    const encoded = (await encode()).buffer;
    const batch = Buffer.from(encoded.subarray(27));
    batch.writeBigInt64BE(100n); // the base offset, which the broker sets
    const { records } = await decodeRecordBatch(createDecoder(batch));
    const read = records.map(({ offset, key, value, headers }) => [offset, `${key}`, `${value}`, headers]);
    expect(read).toEqual([
      ['100', 'k1', 'v1', { a: Buffer.from('x') }],
      ['101', 'k2', 'v2', {}],
    ]);
  });
});

test('decodeRecordBatch moves past the batch, so that the next one can be read', async () => {
  const { encode } = encodeProduceRequest({
    acks: -1,
    timeout: 1,
    topicData: [
      { topic: 't', partitions: [{ partition: 0, messages: [{ key: 'k', value: Buffer.from('v'), headers: {} }] }] },
    ],
  });
  const batch = (await encode()).buffer.subarray(27);
  const decoder = createDecoder(Buffer.concat([batch, batch]));
  await decodeRecordBatch(decoder);
  expect(decoder.offset).toBe(batch.length);
  expect((await decodeRecordBatch(decoder)).records).toHaveLength(1);
});

test('decodeProduceResponse returns the error code of each partition without rejecting', async () => {
  const partition = (id: number, code: number) => [int32(id), int16(code), int64(0), int64(-1), int64(0)];
  const payload = Buffer.concat([
    ...[int32(1), string('t'), int32(2)],
    ...partition(0, 0),
    ...partition(1, 6),
    int32(0), // throttle time
  ]);
  expect(await decodeProduceResponse(payload)).toMatchObject({
    topics: [
      {
        topicName: 't',
        partitions: [
          { partition: 0, errorCode: 0 },
          { partition: 1, errorCode: 6 },
        ],
      },
    ],
  });
});

test('createErrorFromCode names the error', () => {
  const error = createErrorFromCode(6);
  expect(error).toBeInstanceOf(kafkajs.KafkaJSProtocolError);
  expect(error).toMatchObject({ type: 'NOT_LEADER_FOR_PARTITION', message: expect.stringContaining('leader') });
  expect(createErrorFromCode(9_999)).toBeInstanceOf(kafkajs.KafkaJSProtocolError);
});

describe('BrokerConnection', () => {
  const apiKeys = { listOffsets: 2, saslHandshake: 17, apiVersions: 18, saslAuthenticate: 36, test: 999 } as const;
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
    vi.restoreAllMocks();
  });

  interface Received {
    readonly socket: number;
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly clientId: string;
    readonly body: Buffer;
  }

  const apiVersions = Buffer.concat([
    int16(0),
    int32(3),
    ...[int16(apiKeys.listOffsets), int16(1), int16(3)],
    ...[int16(apiKeys.saslHandshake), int16(0), int16(1)],
    ...[int16(apiKeys.saslAuthenticate), int16(0), int16(1)],
    int32(0), // throttle time
  ]);

  /** A broker that answers with `answers[apiKey]`, and not at all without one. */
  async function startBroker(answers: Readonly<Record<number, Buffer>>) {
    const received: Received[] = [];
    const sockets: Socket[] = [];
    const server: Server = createServer((socket) => {
      const index = sockets.push(socket) - 1;
      let buffered = Buffer.alloc(0);
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        buffered = Buffer.concat([buffered, chunk]);
        while (buffered.length >= 4 && buffered.length >= 4 + buffered.readInt32BE()) {
          const frame = buffered.subarray(4, 4 + buffered.readInt32BE());
          buffered = buffered.subarray(4 + frame.length);
          const [apiKey, apiVersion] = [frame.readInt16BE(0), frame.readInt16BE(2)];
          const bodyStart = 10 + frame.readInt16BE(8);
          const clientId = frame.toString('utf8', 10, bodyStart);
          received.push({ socket: index, apiKey, apiVersion, clientId, body: frame.subarray(bodyStart) });
          const answer = { [apiKeys.apiVersions]: apiVersions, ...answers }[apiKey];
          if (answer === undefined) continue;
          socket.write(Buffer.concat([int32(4 + answer.length), frame.subarray(4, 8), answer]));
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const address = server.address();
    return { received, port: typeof address === 'object' && address !== null ? address.port : 0 };
  }

  function open(port: number, options: { sasl?: SASLOptions; requestTimeoutMs?: number } = {}) {
    const sockets = new Sockets();
    closing.push(() => sockets.destroy('the test is over'));
    const connection = new BrokerConnection({
      host: '127.0.0.1',
      port,
      clientId: 'sluice',
      logger: new kafkajs.Kafka({ brokers: ['x:1'], logLevel: kafkajs.logLevel.NOTHING }).logger(),
      socketFactory: sockets.factory,
      connectTimeoutMs: 5_000,
      requestTimeoutMs: options.requestTimeoutMs ?? 5_000,
      tls: undefined,
      sasl: options.sasl,
    });
    return { connection, sockets };
  }

  const request = (text: string): ProtocolRequest<string> => ({
    request: {
      apiKey: apiKeys.test,
      apiVersion: 3,
      apiName: 'Test',
      encode: async () => createEncoder().writeUVarIntString(text),
    },
    response: { decode: async (payload) => payload.toString(), parse: async (text) => `parsed ${text}` },
  });

  test('sends header and payload, and returns the decoded and parsed response', async () => {
    const { port, received } = await startBroker({ [apiKeys.test]: Buffer.from('pong') });
    const { connection } = open(port);
    await connection.connect();
    expect(await connection.send(request('ping'), 0)).toBe('parsed pong');
    const { apiKey, apiVersion, clientId, body } = received.at(-1) ?? {};
    expect([apiKey, apiVersion, clientId, `${body}`]).toEqual([apiKeys.test, 3, 'sluice', '\u0005ping']);
  });

  test('uses a socket of its own per connection', async () => {
    const { port, received } = await startBroker({ [apiKeys.test]: Buffer.from('pong') });
    const { connection } = open(port);
    await connection.connect();
    await connection.send(request('ping'), 0);
    await connection.send(request('ping'), 1);
    const tests = received.filter(({ apiKey }) => apiKey === apiKeys.test);
    expect(tests.map(({ socket }) => socket)).toEqual([0, 1]);
  });

  test('authenticates both connections before other requests', async () => {
    const { port, received } = await startBroker({
      [apiKeys.saslHandshake]: Buffer.concat([int16(0), int32(1), string('PLAIN')]),
      [apiKeys.saslAuthenticate]: Buffer.concat([int16(0), int16(-1), int32(0), int64(0)]),
      [apiKeys.test]: Buffer.from('pong'),
    });
    const { connection } = open(port, { sasl: { mechanism: 'plain', username: 'user', password: 'secret' } });
    await connection.connect();
    await connection.send(request('ping'), 0);
    await connection.send(request('ping'), 1);
    const keys = (index: number) => received.filter(({ socket }) => socket === index).map(({ apiKey }) => apiKey);
    const authentication = [apiKeys.saslHandshake, apiKeys.saslAuthenticate];
    expect(keys(0)).toEqual([apiKeys.apiVersions, ...authentication, apiKeys.test]);
    expect(keys(1)).toEqual([...authentication, apiKeys.test]);
    const [login] = received.filter(({ apiKey }) => apiKey === apiKeys.saslAuthenticate);
    expect(`${login?.body}`).toContain('\0user\0secret');
  });

  test('listOffset returns an offset, and rejects with KafkaJSProtocolError for an error code', async () => {
    const response = (code: number) =>
      Buffer.concat([int32(0), int32(1), string('t'), int32(1), int32(7), int16(code), int64(-1), int64(42)]);
    const leader = await startBroker({ [apiKeys.listOffsets]: response(0) });
    const { connection } = open(leader.port);
    await connection.connect();
    expect(await connection.listOffset('t', 7, '-1')).toBe(42);
    const { body } = leader.received.at(-1) ?? {};
    expect(body?.readBigInt64BE(body.length - 8)).toBe(-1n); // the timestamp comes last

    const follower = await startBroker({ [apiKeys.listOffsets]: response(6) });
    const { connection: other } = open(follower.port);
    await other.connect();
    await expect(other.listOffset('t', 7, '-1')).rejects.toBeInstanceOf(kafkajs.KafkaJSProtocolError);
  });

  test('rejects a request without an answer after the timeout, not with KafkaJSProtocolError', async () => {
    const { port } = await startBroker({});
    const { connection } = open(port, { requestTimeoutMs: 100 });
    await connection.connect();
    const error: unknown = await connection.send(request('ping'), 0).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(kafkajs.KafkaJSRequestTimeoutError);
    expect(error).not.toBeInstanceOf(kafkajs.KafkaJSProtocolError);
  });

  test('rejects requests in flight when its sockets are destroyed', async () => {
    const { port } = await startBroker({});
    const { connection, sockets } = open(port);
    await connection.connect();
    const sent = connection.send(request('ping'), 0);
    const rejected = expect(sent).rejects.toThrow('the broker is gone');
    // kafkajs writes the request asynchronously.
    await new Promise((resolve) => setImmediate(resolve));
    sockets.destroy('the broker is gone');
    await rejected;
  });

  test('does not set a timer with a negative delay after a response', async () => {
    const { port } = await startBroker({ [apiKeys.test]: Buffer.from('pong') });
    const { connection } = open(port);
    const timers = vi.spyOn(globalThis, 'setTimeout');
    await connection.connect();
    await connection.send(request('ping'), 0);
    expect(timers).toHaveBeenCalled(); // the connect timeout
    expect(timers.mock.calls.filter(([, delay]) => (delay ?? 0) < 0)).toEqual([]);
  });
});

function int16(value: number): Buffer {
  return createEncoder().writeInt16(value).buffer;
}

function int32(value: number): Buffer {
  return createEncoder().writeInt32(value).buffer;
}

function int64(value: number): Buffer {
  return createEncoder().writeInt64(value).buffer;
}

function string(text: string): Buffer {
  return Buffer.concat([int16(text.length), Buffer.from(text)]);
}

function crc32c(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
