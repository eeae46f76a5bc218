import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePorts } from '@sluice/local';
import { afterEach, beforeEach, expect, test } from 'vitest';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
/** Part of every planted secret. */
const mark = 'hUsHhUsH';
const planted = (name: string) => `${name}-${mark}-0123456789`;
let directory: string;
let server: Server;
let url: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-bundle-'));
  server = createServer((request, response) => {
    response.end(`served ${request.url}\nsluice_x{server="redis://u:${planted('metric')}@h"} 1\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(directory, { recursive: true, force: true });
});

function write(name: string, content: string): string {
  const file = join(directory, name);
  writeFileSync(file, content);
  return file;
}

const run = (args: readonly string[], env: NodeJS.ProcessEnv) =>
  promisify(execFile)(process.execPath, [main, 'support-bundle', ...args], {
    env: { PATH: process.env.PATH, HOME: directory, ...env },
  });

function unpack(file: string): Map<string, string> {
  const folder = join(directory, 'unpacked');
  mkdirSync(folder);
  execFileSync('tar', ['-xzf', file, '-C', folder]);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => [
      join(parentPath, name)
        .slice(folder.length + 1)
        .split('/')
        .slice(1)
        .join('/'),
      readFileSync(join(parentPath, name), 'utf8'),
    ]),
  );
}

test('collects versions, configuration, checks, metrics, health and logs, and none of the planted secrets', async () => {
  const user = { token: planted('token'), 'client-key-data': Buffer.from(planted('key')).toString('base64') };
  const kubeconfig = write(
    'kubeconfig',
    JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'u', user }],
    }),
  );
  const config = write(
    'sluice.yaml',
    [
      'bus:',
      `  servers: "nats://127.0.0.1:1"`,
      '  username: sluice',
      `  password: ${planted('bus')}`,
      'store:',
      `  url: "redis://sluice:${planted('url')}@127.0.0.1:1"`,
      'console:',
      `  token: ${planted('console')}`,
    ].join('\n'),
  );
  const log = write(
    'writer.log',
    [
      'level=info msg="leases acquired" partitions=0..3',
      `level=error msg="refused" error="WRONGPASS ${planted('url')}"`,
      `level=error msg="request failed" token=${planted('unknown')} key="${planted('bus')}"`,
      `level=error error="https://x:${planted('proxy')}@proxy"`,
      `curl -H "Authorization: Bearer ${planted('bearer')}" ${user['client-key-data']} ${user.token}`,
    ].join('\n'),
  );
  const file = join(directory, 'bundle.tar.gz');
  const [closed] = await freePorts(1);
  const args = ['--config', config, '--kubeconfig', kubeconfig, '--file', file, '--log', log, '--process', url];
  const { stdout, stderr } = await run([...args, `http://127.0.0.1:${closed}`], {});
  const files = unpack(file);
  const folder = `processes/${new URL(url).host.replace(':', '_')}`;
  expect([...files.keys()].sort()).toEqual(
    [
      ...['checks.json', 'configuration.yaml', 'fleet/error.txt', 'logs/1-writer.log', 'versions.json'],
      ...['livez.txt', 'metrics.txt', 'readyz.txt'].flatMap((name) => [
        `${folder}/${name}`,
        `processes/127.0.0.1_${closed}/${name}`,
      ]),
    ].sort(),
  );
  const all = [...files.values(), ...files.keys(), stdout, stderr].join('\n');
  expect(all).not.toContain(mark);
  expect(all).not.toContain(Buffer.from(planted('key')).toString('base64'));
  expect(files.get('logs/1-writer.log')).toContain('leases acquired');
  expect(files.get('configuration.yaml')).toContain('username: sluice');
  expect(files.get(`${folder}/readyz.txt`)).toContain('served /readyz?verbose');
  expect(files.get(`processes/127.0.0.1_${closed}/metrics.txt`)).toContain('ECONNREFUSED');
  expect(JSON.parse(files.get('versions.json') ?? '')).toMatchObject({ node: process.version });
  expect(files.get('checks.json')).toContain('cluster c');
});

test('does not overwrite a file, and reports a log that does not exist', async () => {
  const file = write('bundle.tar.gz', 'mine');
  const refused = { code: 2, stderr: expect.stringContaining('--file: EEXIST') };
  await expect(run(['--file', file, '--process', url], {})).rejects.toMatchObject(refused);
  expect(readFileSync(file, 'utf8')).toBe('mine');
  const missing = { code: 2, stderr: expect.stringContaining('--log: ENOENT') };
  await expect(run(['--log', join(directory, 'none')], {})).rejects.toMatchObject(missing);
});
