import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openInfrastructure } from '@sluice/fleet/roles';
import { silentLogger } from '@sluice/platform';
import { type ShutdownStep, systemClock, systemRandom } from '@sluice/platform/process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Servers, startServers } from './start-servers.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluice-start-servers-'));
const endings: ShutdownStep[] = [];
let servers: Servers;

beforeAll(async () => {
  const ports = { clock: systemClock, random: systemRandom, logger: silentLogger };
  servers = await startServers({ bus: 'kafka', directory, partitions: 2, ...ports }, endings);
});

afterAll(async () => {
  for (const { stop } of endings.reverse()) await stop();
  rmSync(directory, { recursive: true, force: true });
});

test('roles use Kafka with the password of the run', async () => {
  const ports = { clock: systemClock, random: systemRandom, logger: silentLogger };
  const { bus, close } = await openInfrastructure(servers.configuration, ports);
  expect(bus.partitions).toBe(2);
  await close();
});

test('Kafka answers nobody without a password, on none of its ports', async () => {
  const properties = readFileSync(join(directory, 'kafka', 'server.properties'), 'utf8');
  const [, listeners = ''] = /^listeners=(.*)$/m.exec(properties) ?? [];
  const ports = [...listeners.matchAll(/:(\d+)/g)].map(([, port]) => Number(port));
  expect(ports).toHaveLength(3);
  for (const port of ports) expect(await answerTo(port)).toBe('');
});

/** What Kafka answers to a request for its metadata, until it closes the connection. */
function answerTo(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect({ host: '127.0.0.1', port });
    // Size, Metadata, version 0, correlation id, no client id, all topics.
    socket.once('connect', () =>
      socket.write(Buffer.from([0, 0, 0, 14, 0, 3, 0, 0, 0, 0, 0, 1, 255, 255, 0, 0, 0, 0])),
    );
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text;
      socket.end();
    });
    socket.once('close', () => resolve(answer));
    socket.once('error', reject);
  });
}
