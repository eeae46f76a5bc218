import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { ConsoleClient, isQueryError, QueryError } from './console-client.ts';

let server: Server;
let url: string;
let answer: RequestListener;
let asked: IncomingMessage[];
const service = { cluster: 'c', namespace: 'n', service: 's' };

beforeEach(async () => {
  asked = [];
  answer = (_, response) => response.end('{"items":[]}');
  server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
});

const asksFor: [string, (client: ConsoleClient) => Promise<unknown>][] = [
  ['/api/v1/overview', (client) => client.overview()],
  ['/api/v1/services?q=a+b&limit=3', (client) => client.services({ q: 'a b', status: undefined, limit: 3 })],
  ['/api/v1/services/c/n/s', (client) => client.service(service)],
  ['/api/v1/services/a%2Fb/n/s?at=7', (client) => client.service({ ...service, cluster: 'a/b' }, 7)],
  ['/api/v1/services/c/n/s/pods/p%3F', (client) => client.pod(service, 'p?')],
  ['/api/v1/services/c/n/s/pods/p?at=7', (client) => client.pod(service, 'p', 7)],
  ['/api/v1/services/c/n/s/history?since=5', (client) => client.history(service, { since: 5 })],
  ['/api/v1/parked', (client) => client.parked()],
  ['/api/v1/traces/a%2Fb', (client) => client.trace('a/b')],
  ['/api/v1/services/c/n/s/history/stream?since=5', (client) => client.follow(service, { since: 5 }).next()],
];

test.each(asksFor)('requests %s, with the token', async (path, ask) => {
  await ask(new ConsoleClient({ url: `${url}//`, token: 'secret' }));
  expect(asked.map((request) => [request.method, request.url, request.headers.authorization])).toEqual([
    ['GET', path, 'Bearer secret'],
  ]);
});

test('sends no token if there is none, and returns the response', async () => {
  const client = new ConsoleClient({ url });
  expect(await client.overview()).toEqual({ items: [] });
  expect(await client.parked()).toEqual([]);
  expect(asked[0]?.headers).not.toHaveProperty('authorization');
});

it.each<[string, (client: ConsoleClient) => Promise<unknown>]>([
  ['an answer', (client) => client.overview()],
  ['the start of a stream', (client) => client.follow(service, {}).next()],
])('the wait for %s passes through the option wait', async (_, ask) => {
  let waits = 0;
  const wait = <T>(promise: Promise<T>) => {
    waits++;
    return promise;
  };
  await ask(new ConsoleClient({ url, wait }));
  expect(waits).toBe(1);
});

test('what an answer lacks is passed on', async () => {
  const warnings: string[] = [];
  answer = (_, response) => response.writeHead(200, { warning: '299 - "without a cluster"' }).end('{}');
  await new ConsoleClient({ url, warn: (text) => warnings.push(text) }).overview();
  await new ConsoleClient({ url }).overview();
  expect(warnings).toEqual(['without a cluster']);
});

describe('an error', () => {
  const json = (status: number, body: object): RequestListener => {
    return (_, response) => response.writeHead(status).end(JSON.stringify(body));
  };

  test.each<[string, RequestListener]>([
    ['not found', json(404, { error: 'not found' })],
    ['not found\nSee /api', json(404, { error: 'not found', hint: 'see /api' })],
    [
      'a token (console at URL): pass --console-token-file FILE or set SLUICE_CONSOLE_TOKEN',
      json(401, { error: 'a token' }),
    ],
    ['URL is not a Sluice console (HTTP status 500): pass --console URL', json(500, {})],
    ['URL is not a Sluice console (HTTP status 200): pass --console URL', (_, response) => response.end('<html>')],
    ['cannot reach a console at URL: ', (_, response) => response.writeHead(302, { location: '/' }).end()],
    ['cannot reach a console at URL: ', (request) => request.socket.destroy()],
  ])('says what to do: %j', async (text, listener) => {
    answer = listener;
    const failed = new ConsoleClient({ url }).overview();
    await expect(failed).rejects.toThrow(text.replace('URL', url));
    await expect(failed).rejects.toBeInstanceOf(QueryError);
  });

  test('of a stream says what to do as well', async () => {
    answer = json(404, { error: 'no history', hint: 'known: shop/web' });
    const failed = new ConsoleClient({ url }).follow(service, {}).next();
    await expect(failed).rejects.toThrow('no history\nKnown: shop/web');
  });

  test('is recognised by its code', () => {
    expect(isQueryError(new QueryError('no history'))).toBe(true);
    expect(isQueryError(Object.assign(new Error(), { code: 'QUERY' })), 'of another copy of the module').toBe(true);
    for (const other of [new Error(), Object.assign(new Error(), { code: 'USAGE' }), { code: 'QUERY' }])
      expect(isQueryError(other)).toBe(false);
  });
});

test('a stream yields entries only, and ends when the connection is lost', async () => {
  answer = (request, response) => {
    response.write('retry: 1\n\nevent: entry\ndata: {"at":1}\n\nevent: other\ndata: {"at":2}\n\n');
    response.write('event: entry\ndata: {"at":3}\n\n', () => request.socket.destroy());
  };
  const times: number[] = [];
  for await (const { at } of new ConsoleClient({ url }).follow(service, {})) times.push(at);
  expect(times).toEqual([1, 3]);
});

test('a stream with an entry that is no JSON fails', async () => {
  answer = (_, response) => response.end('event: entry\ndata: {\n\n');
  await expect(new ConsoleClient({ url }).follow(service, {}).next()).rejects.toThrow(SyntaxError);
});
