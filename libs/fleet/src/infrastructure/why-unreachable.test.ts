import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { whyUnreachable } from './why-unreachable.ts';

const server = createServer();
let listening: string;
let closed: string;

beforeEach(async () => {
  const other = createServer();
  for (const one of [server, other]) {
    one.listen(0, '127.0.0.1');
    await once(one, 'listening');
  }
  const addressOf = (one: typeof server) => `127.0.0.1:${(one.address() as AddressInfo).port}`;
  [listening, closed] = [addressOf(server), addressOf(other)];
  other.close();
  await once(other, 'close');
});

afterEach(() => void server.close());

test.each(['redis://', 'rediss://user:secret@', 'nats://', 'tls://', ''])('%sHOST:PORT', async (scheme) => {
  expect(await whyUnreachable([`${scheme}${closed}`])).toBe('connection refused');
  expect(await whyUnreachable([`${scheme}${listening}`])).toBeUndefined();
  expect(await whyUnreachable([`${scheme}${closed}`, `${scheme}${listening}`])).toBeUndefined();
});
