import { afterEach, describe, expect, test } from 'vitest';
import { type ApiClient, type ApiRequest, withUserAgent } from './connection.ts';
import { protobufMediaType } from './protobuf/index.ts';
import { encodedStatus, enveloped } from './protobuf/testing/fixtures.ts';
import { connect, type Handler, json, noAbort, startServer } from './testing/fixtures.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function given(handler: Handler) {
  const server = await startServer(handler);
  const { connection, clock, close } = await connect(server.url);
  cleanups.push(server.close, close);
  return { server, connection, clock };
}

const get: ApiRequest = { method: 'GET', path: '/x', signal: noAbort };

describe('the body of a request', () => {
  test('that is bytes is sent unchanged, with the content type of its headers', async () => {
    const { connection, server } = await given((_, response) => json(response, 200, {}));
    const headers = { 'content-type': 'application/merge-patch+json' };
    await connection.request({ ...get, method: 'PATCH', body: Buffer.from('{"a":1}'), headers });
    expect(server.requests[0]).toMatchObject({ method: 'PATCH', body: { a: 1 }, headers });
  });

  test('is missing where there is none, and so is its content type', async () => {
    const { connection, server } = await given((_, response) => json(response, 200, {}));
    await connection.request(get);
    expect(server.requests[0]?.body).toBeUndefined();
    expect(server.requests[0]?.headers).not.toHaveProperty('content-type');
  });
});

describe('the body of a response', () => {
  test('that is empty is undefined', async () => {
    const { connection } = await given((_, response) => response.end());
    expect(await connection.request(get)).toMatchObject({ status: 200, body: undefined });
  });

  test('in protobuf is given as bytes', async () => {
    const { connection } = await given((_, response) => {
      response.writeHead(200, { 'content-type': `${protobufMediaType};as=Table` });
      response.end('not JSON');
    });
    expect((await connection.request(get)).body).toEqual(Buffer.from('not JSON'));
  });

  test.each(['with its length', 'in chunks'])('may be as large as allowed, %s', async (how) => {
    const { connection } = await given((_, response) => {
      if (how === 'in chunks') response.write('"12');
      response.end(how === 'in chunks' ? '345678"' : '"12345678"');
    });
    expect((await connection.request({ ...get, maxResponseBytes: 10 })).body).toBe('12345678');
    await expect(connection.request({ ...get, maxResponseBytes: 9 })).rejects.toMatchObject({
      reason: 'InvalidAnswer',
    });
  });
});

describe('the error of a rejected request', () => {
  const status = enveloped(encodedStatus({ message: 'too old', reason: 'Expired', code: 410 }));

  test.each<[string, Buffer, object]>([
    ['a Status in protobuf', status, { kind: 'gone', message: 'too old', reason: 'Expired' }],
    [
      'malformed protobuf',
      Buffer.from('{}'),
      { kind: 'retry', message: expect.stringContaining('HTTP status 410'), reason: 'HTTP410' },
    ],
  ])('is read from %s', async (_, body, expected) => {
    const { connection } = await given((_, response) => {
      response.writeHead(410, { 'content-type': protobufMediaType });
      response.end(body);
    });
    await expect(connection.request(get)).rejects.toMatchObject({ status: 410, ...expected });
    await expect(connection.stream({ ...get, idleMs: 1 })).rejects.toMatchObject(expected);
  });

  test('says nothing about a body that is no JSON or too large', async () => {
    const bodies = ['<html>', `"${'x'.repeat(300_000)}"`];
    const { connection } = await given((_, response) => {
      response.writeHead(500);
      response.end(bodies.shift());
    });
    for (const _ of [1, 2])
      await expect(connection.request(get)).rejects.toMatchObject({ kind: 'retry', status: 500, reason: 'HTTP500' });
  });

  test('is that of a redirect too: an API server sends none', async () => {
    const { connection, server } = await given((_, response) => {
      response.writeHead(300, { location: '/elsewhere' });
      response.end('{}');
    });
    await expect(connection.request(get)).rejects.toMatchObject({ kind: 'retry', status: 300 });
    await expect(connection.stream({ ...get, idleMs: 1 })).rejects.toMatchObject({ status: 300 });
    expect(server.requests).toHaveLength(2);
  });
});

test('a client under another name adds it to requests and streams that have none of their own', async () => {
  const sent: (string | undefined)[] = [];
  const note = (request: ApiRequest) => void sent.push(request.headers?.['user-agent']);
  const client: ApiClient = {
    server: 'https://api.test',
    request: async (request) => {
      note(request);
      return { status: 200, headers: {}, body: undefined };
    },
    stream: async (request) => {
      note(request);
      return { status: 200, headers: {}, chunks: (async function* () {})() };
    },
  };
  const named = withUserAgent(client, 'other');
  expect(named.server).toBe('https://api.test');
  await named.request(get);
  await named.request({ ...get, headers: { 'user-agent': 'own' } });
  await named.stream({ ...get, idleMs: 1 });
  expect(sent).toEqual(['other', 'own', 'other']);
});
