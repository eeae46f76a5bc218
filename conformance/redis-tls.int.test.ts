import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisServer, startRedis } from '@sluice/local';
import { silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { openRedis } from '@sluice/store/redis';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** The store connects to a server only if its certificate is of the configured authority and for its address. */

const script = join(import.meta.dirname, '../infra/kubernetes/make-certificates.sh');
const root = mkdtempSync(join(tmpdir(), 'sluice-redis-tls-'));
const started: RedisServer[] = [];

beforeAll(() => {
  for (const authority of ['ours', 'other']) {
    const servers = ['address=127.0.0.1', 'name=localhost'];
    execFileSync('sh', [script, join(root, authority), ...servers], { stdio: 'ignore' });
  }
});

afterAll(async () => {
  for (const server of started) await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const file = (name: string) => join(root, 'ours', name);

/** A server with this certificate. */
async function serve(name: string): Promise<RedisServer> {
  const settings = { 'tls-cert-file': file(`${name}.crt`), 'tls-key-file': file(`${name}.key`) };
  const server = await startRedis({ directory: join(root, `redis-${name}`), tls: true, settings });
  started.push(server);
  return server;
}

async function connect(url: string, authority: string): Promise<string> {
  const ca = readFileSync(join(root, authority, 'ca.crt'), 'utf8');
  const options = { urls: [url], tls: { ca }, fleet: 'tls', commandTimeoutMs: 2_000 };
  const ports = await openRedis(options, { clock: systemClock, logger: silentLogger });
  try {
    return await ports.store.setIfAbsent('name', 'value');
  } finally {
    ports.close();
  }
}

test('a certificate for the address is accepted', async () => {
  const { url } = await serve('address');
  expect(await connect(url, 'ours')).toBe('value');
});

test('a certificate of another authority is rejected', async () => {
  const url = started[0]?.url ?? '';
  await expect(connect(url, 'other')).rejects.toThrow(/unable to verify .* certificate/);
});

test('a certificate for another name is rejected', async () => {
  const { url } = await serve('name');
  expect(await connect(url.replace('127.0.0.1', 'localhost'), 'ours')).toBe('value');
  await expect(connect(url, 'ours')).rejects.toThrow(/does not match certificate/);
});
