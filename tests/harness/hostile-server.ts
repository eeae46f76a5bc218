import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiServerHttp, type FakeApiServer } from '@sluice/fake-apiserver';
import { systemClock } from '@sluice/platform/process';

/** Answers a request and returns true, or returns false: the request is then answered as an API server does. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => boolean;

/** An API server over HTTP that answers some requests as a test says. */
export class HostileServer {
  readonly #http: ApiServerHttp;
  readonly #server: Server;
  #origin = '';

  constructor(server: FakeApiServer, answer: Answer) {
    this.#http = new ApiServerHttp({ server, clock: systemClock });
    this.#server = createServer((request, response) => {
      if (answer(request, response)) return;
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => void forward(this.#origin, request, Buffer.concat(chunks), response));
    });
  }

  /** Returns the URL. */
  async listen(): Promise<string> {
    this.#origin = await this.#http.listen();
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#http.close();
  }
}

async function forward(origin: string, { method, url, headers }: IncomingMessage, body: Buffer, to: ServerResponse) {
  const stop = new AbortController();
  to.on('close', () => stop.abort());
  try {
    const response = await fetch(`${origin}${url}`, {
      ...{ method: method ?? 'GET', signal: stop.signal, headers: { accept: headers.accept ?? '' } },
      ...(body.length > 0 && { body, headers: { 'content-type': headers['content-type'] ?? '' } }),
    });
    to.writeHead(response.status, { 'content-type': response.headers.get('content-type') ?? '' });
    for await (const chunk of response.body ?? []) to.write(chunk);
    to.end();
  } catch {
    to.destroy();
  }
}

export const isWatch = (request: IncomingMessage): boolean => request.url?.includes('watch=1') === true;
export const isOf = (request: IncomingMessage, path: string): boolean =>
  request.method === 'GET' && request.url?.split('?')[0] === path;

/** As a server that does not support `sendInitialEvents`. */
export function refuseWatchList(response: ServerResponse): true {
  const status = { kind: 'Status', status: 'Failure', reason: 'BadRequest', message: 'no WatchList', code: 400 };
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(status));
  return true;
}

/** Writes as long as the client reads. */
export function writeForever(response: ServerResponse, status: number, first: string, text: () => string): true {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.write(first);
  const more = () => {
    while (!response.destroyed && response.write(text()));
  };
  response.on('drain', more);
  more();
  return true;
}

/** A length-delimited field of a protobuf message. */
export function protobufField(number: number, value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([(number << 3) | 2]), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}
