import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { AddressInfo } from 'node:net';

/** The manipulation of one request. */
export type Tampering =
  /** Responds itself; the request does not reach the server. */
  | {
      readonly how: 'answer';
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Cuts the connection before the request, after the response, or in the middle of the response. */
  | { readonly how: 'cutBefore' | 'cutAfter' | 'cutInside' }
  /** Never responds; the request does not reach the server, or is executed. */
  | { readonly how: 'silentBefore' | 'silentAfter' }
  /** Forwards the request and replaces the response. */
  | { readonly how: 'replace'; readonly body: string };

export interface Origin {
  readonly url: string;
  readonly ca?: Buffer;
  readonly token?: string;
}

/** An HTTP proxy between a client and an API server that manipulates requests as scripted. */
export class TamperingProxy {
  /** `METHOD path?query` of all requests, in order. */
  readonly requests: { readonly what: string; readonly at: number }[] = [];
  readonly #origin: Origin;
  readonly #http: Server;
  #script: Tampering[] = [];
  #matches: (request: IncomingMessage) => boolean = () => true;

  constructor(origin: Origin) {
    this.#origin = origin;
    this.#http = createServer((request, response) => {
      this.requests.push({ what: `${request.method} ${request.url}`, at: performance.now() });
      const tampering = this.#matches(request) ? this.#script.shift() : undefined;
      this.#handle(request, response, tampering);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Manipulates the next requests with this method, one after the other; others are forwarded. */
  tamper(method: string, ...script: readonly Tampering[]): void {
    this.#script = [...script];
    this.#matches = (request) => request.method === method;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#http.close(resolve));
    this.#http.closeAllConnections();
    await closed;
  }

  #handle(incoming: IncomingMessage, response: ServerResponse, tampering: Tampering | undefined): void {
    switch (tampering?.how) {
      case 'answer': {
        incoming.resume();
        const { status, body, headers } = tampering;
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
        return;
      }
      case 'cutBefore':
        incoming.socket.destroy();
        return;
      case 'silentBefore':
        incoming.resume();
        return;
      default:
        this.#passOn(incoming, (status, type, body) => {
          switch (tampering?.how) {
            case 'silentAfter':
              return;
            case 'cutAfter':
              return void incoming.socket.destroy();
            case 'cutInside':
              response.writeHead(status, { 'content-type': type, 'content-length': body.length });
              response.write(body.subarray(0, body.length / 2), () => incoming.socket.destroy());
              return;
            case 'replace':
              response.writeHead(status, { 'content-type': 'application/json' });
              return void response.end(tampering.body);
            default:
              response.writeHead(status, { 'content-type': type });
              response.end(body);
          }
        });
    }
  }

  #passOn(incoming: IncomingMessage, onAnswer: (status: number, type: string, body: Buffer) => void): void {
    const { url, ca, token } = this.#origin;
    const headers = { ...incoming.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    delete headers.host;
    const send = url.startsWith('https:') ? secureRequest : request;
    const options = { method: incoming.method, headers, ...(ca !== undefined && { ca }) };
    const outgoing = send(new URL(incoming.url ?? '/', url), options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () =>
        onAnswer(answer.statusCode ?? 502, answer.headers['content-type'] ?? 'application/json', Buffer.concat(chunks)),
      );
    });
    outgoing.on('error', () => incoming.socket.destroy());
    incoming.pipe(outgoing);
  }
}
