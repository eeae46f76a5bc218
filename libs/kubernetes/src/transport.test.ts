import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { type AddressInfo, connect, type Server } from 'node:net';
import path from 'node:path';
import { VirtualClock } from '@sluice/platform';
import { afterEach, describe, expect, it, test } from 'vitest';
import { certificateFingerprints, openTransport } from './transport.ts';

describe('transport', () => {
  const pem = (name: string) => readFile(path.join(import.meta.dirname, 'testdata', name), 'utf8');
  const cleanups: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  async function listen(server: Server): Promise<number> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => new Promise((resolve) => server.close(resolve)));
    return (server.address() as AddressInfo).port;
  }

  /** Speaks HTTP/2 with whoever can, and answers with the version that it speaks. */
  async function startServer(): Promise<number> {
    const options = { cert: await pem('server.crt'), key: await pem('server.key'), allowHTTP1: true };
    return listen(createSecureServer(options, (request, response) => response.end(request.httpVersion)));
  }

  async function startProxy(): Promise<number> {
    const proxy = createServer().on('connect', (request, socket) => {
      const target = connect(Number(new URL(`http://${request.url}`).port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        target.pipe(socket).pipe(target);
      });
      socket.on('error', () => target.destroy());
      target.on('error', () => socket.destroy());
    });
    return listen(proxy);
  }

  describe('openTransport', () => {
    it.each(['directly', 'through a proxy'])('speaks HTTP/1.1 with a server that offers HTTP/2, %s', async (how) => {
      const origin = `https://127.0.0.1:${await startServer()}`;
      const proxyUrl = how === 'directly' ? undefined : `http://127.0.0.1:${await startProxy()}`;
      const transport = openTransport(
        { ca: await pem('ca.crt') },
        { maxConnections: 1, connectTimeoutMs: 5000, proxyUrl, clock: new VirtualClock() },
      );
      cleanups.push(() => transport.destroy());
      for (const dispatcher of [transport.requests, transport.streams]) {
        const { body } = await dispatcher.request({ origin, path: '/', method: 'GET' });
        expect(await body.text()).toBe('1.1');
      }
    });
  });
});

const pem = (name: string) => readFile(path.join(import.meta.dirname, 'testdata', name), 'utf8');

test('a bundle has one fingerprint per certificate, sorted, whatever the order and however often each occurs', async () => {
  const [ca, client] = [await pem('ca.crt'), await pem('client.crt')];
  const expected = [ca, client].map((text) => new X509Certificate(text).fingerprint256).sort();
  expect(certificateFingerprints(ca + client)).toEqual(expected);
  expect(certificateFingerprints(Buffer.from(`${client}\n# comment\n${ca}${client}`))).toEqual(expected);
});

test('a bundle without a certificate has none', async () => {
  expect(certificateFingerprints('')).toEqual([]);
  expect(certificateFingerprints(await pem('client.key'))).toEqual([]);
});
