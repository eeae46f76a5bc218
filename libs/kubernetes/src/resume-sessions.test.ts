import { constants } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { type Cancel, VirtualClock } from '@sluice/platform';
import { buildConnector } from 'undici';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resumeSessions } from './transport.ts';

const pem = (name: string) => readFile(path.join(import.meta.dirname, 'testdata', name), 'utf8');
type Options = Parameters<buildConnector.connector>[0];
type Callback = Parameters<buildConnector.connector>[1];

let clock: VirtualClock;
let sockets: TLSSocket[];
let cleanups: Cancel[];

beforeEach(() => {
  clock = new VirtualClock();
  sockets = [];
  cleanups = [];
});

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const cleanup of cleanups) cleanup();
});

function advance(ms: number): void {
  const until = clock.now() + ms;
  while (clock.step(until));
}

async function listen(options: TlsOptions = {}): Promise<Options> {
  const server = createServer({ cert: await pem('server.crt'), key: await pem('server.key'), ...options });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { hostname: '127.0.0.1', host: `127.0.0.1:${port}`, protocol: 'https:', port: String(port) };
}

const connectorTo = async () => resumeSessions(buildConnector({ ca: await pem('ca.crt'), allowH2: false }), clock);

function open(connect: buildConnector.connector, options: Options): Promise<boolean> {
  return new Promise((resolve, reject) =>
    connect(options, (error, socket) => {
      if (error !== null) return reject(error);
      sockets.push(socket as TLSSocket);
      resolve((socket as TLSSocket).isSessionReused());
    }),
  );
}

test('connections opened at once resume the session of the first one', async () => {
  const server = await listen();
  const connect = await connectorTo();
  expect(await Promise.all([1, 2, 3].map(() => open(connect, server)))).toEqual([false, true, true]);
  expect(await open(connect, server)).toBe(true);
});

test('a server that issues no sessions delays them for a moment only', async () => {
  const server = await listen({ secureOptions: constants.SSL_OP_NO_TICKET });
  const connect = await connectorTo();
  const opened = [open(connect, server), open(connect, server)];
  await opened[0];
  advance(20);
  expect(await opened[1]).toBeTypeOf('boolean');
});

/** Collects the attempts, which the test ends. */
function attempts() {
  const callbacks: Callback[] = [];
  const connect = resumeSessions((_, callback) => void callbacks.push(callback), clock);
  const attempt = (protocol = 'https:') => connect({ hostname: 'a', protocol, port: '1' }, () => {});
  return { callbacks, attempt };
}

test('after a failure of the first connection, the others are attempted', async () => {
  const { callbacks, attempt } = attempts();
  attempt();
  attempt();
  expect(callbacks).toHaveLength(1);
  callbacks[0]?.(new Error('refused'), null);
  await Promise.resolve();
  await Promise.resolve();
  expect(callbacks).toHaveLength(2);
});

test('a first connection without an answer does not hold the others back for long', async () => {
  const { callbacks, attempt } = attempts();
  attempt();
  attempt();
  advance(499);
  await Promise.resolve();
  expect(callbacks).toHaveLength(1);
  advance(1);
  await Promise.resolve();
  await Promise.resolve();
  expect(callbacks).toHaveLength(2);
});

test('plain HTTP never waits', () => {
  const { callbacks, attempt } = attempts();
  attempt('http:');
  attempt('http:');
  expect(callbacks).toHaveLength(2);
});
