import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';

/** Runs the check with pnpm on the lock file, and a registry on loopback that answers its audit requests. */

let server: Server | undefined;
/** Versions of each package that pnpm has asked about. */
let asked: Readonly<Record<string, readonly string[]>> = {};

afterEach(async () => {
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  server = undefined;
  asked = {};
});

async function listen(status: number, answer: object): Promise<string> {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      asked = JSON.parse((request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString());
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

interface Checked {
  readonly status: number;
  readonly summary: string;
  readonly stderr: string;
}

function check(registry: string): Promise<Checked> {
  const env = { ...process.env, pnpm_config_registry: registry, pnpm_config_fetch_retries: '0' };
  return new Promise((resolve) => {
    execFile(process.execPath, [join(import.meta.dirname, 'check.ts')], { env }, (error, stdout, stderr) =>
      resolve({
        status: error === null ? 0 : Number(error.code),
        summary: stdout.trimEnd().split('\n').at(-1) ?? '',
        stderr,
      }),
    );
  });
}

const advisory = (severity: string) => ({
  ...{ id: 1, url: 'https://example.com/GHSA-1', severity, vulnerable_versions: '>0' },
  // Words of a failed request.
  title: 'ERR_PNPM_AUDIT_BAD_RESPONSE: ENOTFOUND crashes the process',
  ...{ cwe: [], cvss: { score: 9, vectorString: null } },
});

test('passes if the registry knows no advisory, and has asked about every package', async () => {
  expect(await check(await listen(200, {}))).toMatchObject({ status: 0, summary: '2 passed, 0 failed, 0 skipped' });
  expect(asked).toMatchObject({ fastify: [expect.any(String)], zod: [expect.any(String)] });
  expect(Object.keys(asked).length).toBeGreaterThan(100);
});

test('fails on an advisory, and names the package', async () => {
  const { status, summary, stderr } = await check(await listen(200, { fastify: [advisory('high')] }));
  expect({ status, summary }).toEqual({ status: 1, summary: '1 passed, 1 failed, 0 skipped' });
  expect(stderr).toMatch(/advisories: failed: high: fastify@\d\S*: .* \(https:\/\/example\.com\/GHSA-1\)/);
});

test('passes with an advisory of low severity', async () => {
  const { summary } = await check(await listen(200, { fastify: [advisory('low')] }));
  expect(summary).toBe('2 passed, 0 failed, 0 skipped');
});

test.each([
  ['answers no audit requests', () => listen(405, {})],
  ['cannot be reached', async () => 'http://127.0.0.1:1/'],
])('is skipped visibly if the registry %s', async (_, registry) => {
  const { status, summary, stderr } = await check(await registry());
  expect({ status, summary }).toEqual({ status: 0, summary: '1 passed, 0 failed, 1 skipped' });
  expect(stderr).toContain('advisories: skipped: the package registry answers no audit requests');
});
