import { once } from 'node:events';
import { createServer, connect as open, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FaultyNetwork } from './faulty-network.ts';

let echo: Server;
let network: FaultyNetwork;
let address: { readonly host: string; readonly port: number };
let clients: Socket[];

beforeEach(async () => {
  echo = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  network = new FaultyNetwork(`https://127.0.0.1:${(echo.address() as { port: number }).port}`);
  const [host = '', port] = (await network.listen()).split(':');
  address = { host, port: Number(port) };
  clients = [];
});

afterEach(async () => {
  for (const client of clients) client.destroy();
  await network.refuse();
  await new Promise((resolve) => echo.close(resolve));
});

async function connected(): Promise<Socket> {
  const socket = open(address);
  clients.push(socket);
  await once(socket, 'connect');
  socket.on('error', () => {});
  return socket;
}

async function echoed(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [chunk] = await once(socket, 'data');
  return String(chunk);
}

test('forwards bytes until connections are cut, and accepts new ones', async () => {
  const first = await connected();
  expect(await echoed(first, 'a')).toBe('a');
  const closed = new Promise((resolve) => first.on('close', resolve));
  expect(network.cut()).toBe(1);
  await closed;
  expect(await echoed(await connected(), 'b')).toBe('b');
});

test('drops bytes silently on open and new connections, and closes none', async () => {
  const old = await connected();
  await echoed(old, 'a');
  network.swallow();
  const late = await connected();
  let received = '';
  for (const socket of [old, late]) {
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.write('lost');
  }
  network.heal();
  expect(await echoed(await connected(), 'b')).toBe('b');
  expect(received).toBe('');
  expect([old.destroyed, late.destroyed]).toEqual([false, false]);
  expect(network.connections).toBe(3);
});

test('refuses connections, then accepts them again at the same address', async () => {
  const first = await connected();
  const closed = new Promise((resolve) => first.on('close', resolve));
  await network.refuse();
  await closed;
  await expect(connected()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await network.listen();
  expect(await echoed(await connected(), 'b')).toBe('b');
});
