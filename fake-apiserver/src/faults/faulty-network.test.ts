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

test('bytes pass, until connections are cut; new ones are let in', async () => {
  const first = await connected();
  expect(await echoed(first, 'a')).toBe('a');
  const closed = new Promise((resolve) => first.on('close', resolve));
  expect(network.cut()).toBe(1);
  await closed;
  expect(await echoed(await connected(), 'b')).toBe('b');
});

test('what is sent is swallowed, on old connections and new ones, and none is closed', async () => {
  const old = await connected();
  await echoed(old, 'a');
  network.swallow();
  const late = await connected();
  let heard = '';
  for (const socket of [old, late]) {
    socket.on('data', (chunk) => {
      heard += chunk;
    });
    socket.write('lost');
  }
  network.heal();
  expect(await echoed(await connected(), 'b')).toBe('b');
  expect(heard).toBe('');
  expect([old.destroyed, late.destroyed]).toEqual([false, false]);
  expect(network.connections).toBe(3);
});

test('connections are refused, and let in again at the same address', async () => {
  const first = await connected();
  const closed = new Promise((resolve) => first.on('close', resolve));
  await network.refuse();
  await closed;
  await expect(connected()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await network.listen();
  expect(await echoed(await connected(), 'b')).toBe('b');
});
