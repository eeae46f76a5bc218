import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Nats, startNats } from './src/index.ts';

const root = mkdtempSync(join(tmpdir(), 'sluice-nats-'));
let nats: Nats;

beforeAll(async () => {
  nats = await startNats({ directory: root });
});

afterAll(async () => {
  await nats?.stop();
  rmSync(root, { recursive: true, force: true });
});

/** The INFO message that the server sends to a new client. */
function serverInfo(): Promise<{ version: string; jetstream: boolean; max_payload: number }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(nats.url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.once('error', reject);
    socket.once('data', (data) => {
      socket.destroy();
      resolve(JSON.parse(data.toString().slice('INFO '.length)));
    });
  });
}

it('starts nats-server in the pinned version with JetStream', async () => {
  expect(await serverInfo()).toMatchObject({ version: '2.15.2', jetstream: true, max_payload: 8 * 1024 * 1024 });
});

it('restarts on the same port after a kill', async () => {
  const { url } = nats;
  await nats.process.kill();
  await nats.process.start();
  await nats.ready();
  expect(nats.url).toBe(url);
  expect(await serverInfo()).toMatchObject({ jetstream: true });
});
