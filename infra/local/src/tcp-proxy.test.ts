import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TcpProxy } from './tcp-proxy.ts';

let server: Server;
let port: number;
let requests: string;
let connections: number;
const endings: (() => unknown)[] = [];

beforeEach(async () => {
  requests = '';
  connections = 0;
  server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      requests += chunk;
      socket.write(`re:${chunk}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  endings.push(() => server.close());
});

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function proxied(): Promise<TcpProxy> {
  const proxy = await TcpProxy.listen(port);
  endings.push(() => proxy.close());
  return proxy;
}

function client(proxy: TcpProxy): { socket: Socket; received: () => string } {
  let received = '';
  const socket = connect(proxy.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    received += chunk;
  });
  endings.push(() => socket.destroy());
  return { socket, received: () => received };
}

/** All that was sent before on loopback has arrived: each of these messages takes the same way, through an open proxy. */
async function arrived(): Promise<void> {
  const echo = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  const proxy = await TcpProxy.listen((echo.address() as AddressInfo).port);
  const { socket, received } = client(proxy);
  for (let round = 1; round <= 5; round++) {
    socket.write('x');
    await expect.poll(received).toHaveLength(round);
  }
  socket.destroy();
  await proxy.close();
  echo.close();
}

describe('a TCP proxy', () => {
  test('forwards both directions', async () => {
    const { socket, received } = client(await proxied());
    socket.write('a');
    await expect.poll(received).toBe('re:a');
  });

  test('that blocks responses lets requests pass, and delivers the responses later', async () => {
    const proxy = await proxied();
    const { socket, received } = client(proxy);
    socket.write('a');
    await expect.poll(received).toBe('re:a');
    proxy.block('responses');
    socket.write('b');
    await expect.poll(() => requests).toBe('ab');
    await arrived();
    expect(received()).toBe('re:a');
    proxy.unblock('responses');
    await expect.poll(received).toBe('re:are:b');
  });

  test('that blocks requests delivers them later, although the client has gone', async () => {
    const proxy = await proxied();
    const { socket, received } = client(proxy);
    socket.write('a');
    await expect.poll(received).toBe('re:a');
    proxy.block('requests');
    socket.write('b');
    await arrived();
    socket.destroy();
    await arrived();
    expect(requests).toBe('a');
    proxy.unblock('requests');
    await expect.poll(() => requests).toBe('ab');
  });

  test.each(['requests', 'responses'] as const)(
    'that blocks %s establishes new connections later',
    async (direction) => {
      const proxy = await proxied();
      proxy.block(direction);
      const { socket, received } = client(proxy);
      const gone = client(proxy);
      socket.write('a');
      gone.socket.write('never sent');
      await arrived();
      gone.socket.destroy();
      await arrived();
      expect(connections).toBe(0);
      proxy.unblock(direction);
      await expect.poll(received).toBe('re:a');
      expect(connections).toBe(1);
    },
  );

  test('refuses clients of a server that is down', async () => {
    const proxy = await proxied();
    await new Promise((resolve) => server.close(resolve));
    const { socket } = client(proxy);
    await expect.poll(() => socket.destroyed).toBe(true);
  });

  test('replaces ports in responses', async () => {
    const proxy = await proxied();
    proxy.replacePorts(new Map([[40001, 50002]]));
    const { socket, received } = client(proxy);
    socket.write('$5\r\n40001\r\n$6\r\n140001\r\n');
    await expect.poll(received).toBe('re:$5\r\n50002\r\n$6\r\n140001\r\n');
  });
});
