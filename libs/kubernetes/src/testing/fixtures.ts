import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { TLSSocket } from 'node:tls';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { Connection, type ConnectionOptions } from '../connection.ts';
import { HttpCluster, type HttpClusterOptions } from '../http-cluster.ts';
import { loadKubeconfig } from '../kubeconfig.ts';
import { protobufMediaType } from '../protobuf/index.ts';
import { decodeWritten } from '../protobuf/testing/fixtures.ts';

export * from './decoders.ts';

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** In the shape of JSON, whatever it came as. */
  readonly body: unknown;
  /** Common name in the client's certificate; empty without one. */
  readonly peer: string;
}

export type Handler = (request: ReceivedRequest, response: ServerResponse) => void;

export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** What came in so far. */
  readonly requests: readonly ReceivedRequest[];
  /** How many connections were opened so far. */
  connections(): number;
  close(): Promise<void>;
}

export async function startServer(handler: Handler, tls?: ServerOptions): Promise<TestServer> {
  const requests: ReceivedRequest[] = [];
  let connections = 0;
  const listener = (incoming: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const request = {
        method: incoming.method ?? '',
        url: incoming.url ?? '',
        headers: incoming.headers,
        body: bodyOf(incoming.headers['content-type'], bytes),
        peer: incoming.socket instanceof TLSSocket ? `${incoming.socket.getPeerCertificate().subject?.CN ?? ''}` : '',
      };
      requests.push(request);
      handler(request, response);
    });
  };
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on(tls === undefined ? 'connection' : 'secureConnection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function bodyOf(type: string | undefined, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  return type === protobufMediaType ? decodeWritten(bytes) : JSON.parse(bytes.toString('utf8'));
}

/** A directory of its own with the given files; removed by `remove`. */
export async function writeFiles(files: Readonly<Record<string, string>>) {
  const directory = await mkdtemp(path.join(tmpdir(), 'sluice-kubernetes-'));
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(directory, name), text);
  return {
    directory,
    file: (name: string) => path.join(directory, name),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** A kubeconfig, in JSON, which is YAML, of one context `test`. */
export function kubeconfigText(cluster: object, user: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'tester' } }],
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'tester', user }],
  });
}

/** A connection to `server` whose clock stands still, so that no time limit strikes unless a test moves it. */
export async function connect(server: string, user: object = {}, options: Partial<ConnectionOptions> = {}) {
  const files = await writeFiles({ config: kubeconfigText({ server }, user) });
  const access = await loadKubeconfig({ paths: [files.file('config')] });
  const clock = new VirtualClock(1_700_000_000_000);
  const connection = new Connection({ access, userAgent: 'sluice/test', clock, logger: silentLogger, ...options });
  const close = async () => {
    await connection.destroy();
    await files.remove();
  };
  return { connection, clock, files, close };
}

export function clusterOver(connection: Connection, clock: VirtualClock, options: Partial<HttpClusterOptions> = {}) {
  return new HttpCluster({ connection, clock, random: seededRandom(1), ...options });
}

export function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export const noAbort = new AbortController().signal;
