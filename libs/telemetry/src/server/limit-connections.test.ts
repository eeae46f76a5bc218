import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { limitConnections } from './limit-connections.ts';

const cleanups: (() => void)[] = [];

afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function given(limits: Partial<Parameters<typeof limitConnections>[1] & object>, onRequest: RequestListener) {
  const server = createServer(onRequest);
  limitConnections(server, { total: 100, perAddress: 100, pipelined: 100, ...limits });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const open = (text: string, localAddress = '127.0.0.1') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }, () => socket.write(text));
    let received = '';
    socket.on('error', () => {}).on('data', (data) => (received += data));
    const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
    cleanups.push(() => socket.destroy());
    return { socket, closed, received: () => received };
  };
  cleanups.push(() => void server.close().closeAllConnections());
  return { server, open };
}

const get = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
const answer: RequestListener = (_, response) => void response.end('ok');

test('a connection beyond the limit of its address closes the oldest one of the address', async () => {
  const { open } = await given({ perAddress: 3 }, answer);
  const all = [];
  for (let n = 0; n < 5; n++) {
    const one = open(get);
    await expect.poll(one.received).toContain('200 OK');
    all.push(one);
  }
  await Promise.all([all[0]?.closed, all[1]?.closed]);
  expect(all.map(({ socket }) => socket.closed)).toEqual([true, true, false, false, false]);
});

test('a connection beyond the limit of all closes the oldest one of the address that has most', async () => {
  const { open } = await given({ total: 4 }, answer);
  const all = [];
  for (const from of ['127.0.0.2', '127.0.0.3', '127.0.0.3', '127.0.0.4', '127.0.0.5']) {
    const one = open(get, from);
    await expect.poll(one.received).toContain('200 OK');
    all.push(one);
  }
  await all[1]?.closed;
  expect(all.map(({ socket }) => socket.closed)).toEqual([false, true, false, false, false]);
});

test('a connection with more requests in progress than it may have is closed', async () => {
  const responses: ServerResponse[] = [];
  const { open } = await given({ pipelined: 4 }, (_, response) => void responses.push(response));
  const patient = open(get.repeat(4));
  await expect.poll(() => responses.length).toBe(4);
  for (const response of responses.splice(0)) response.end('ok');
  await expect.poll(() => patient.received().split('200 OK').length).toBe(5);
  patient.socket.write(get.repeat(4));
  await expect.poll(() => responses.length).toBe(4);
  await open(get.repeat(5)).closed;
});
