import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';

const main = join(import.meta.dirname, '..', '..', 'main.ts');
const root = mkdtempSync(join(tmpdir(), 'sluice-config-'));
const file = join(root, 'sluice.yaml');

beforeAll(() => {
  writeFileSync(join(root, 'password'), 'hush\n');
  writeFileSync(file, 'fleet: shop\nbus: { servers: "nats://n", username: u, passwordFile: password }\n');
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

function sluice(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const env = { PATH: process.env.PATH, NO_COLOR: '1', ...environment };
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'config', ...args], { env, encoding: 'utf8' });
  expect(stdout + stderr).not.toContain('hush');
  return { status, stdout, stderr };
}

test('prints the result of file, environment and flags', () => {
  const environment = { SLUICE_CONFIG: file, SLUICE_STORE_URL: 'redis://:hush@r', SLUICE_LOG_LEVL: 'debug' };
  const { status, stdout, stderr } = sluice(['--partitions', '8'], environment);
  expect(status).toBe(0);
  expect(stderr).toBe('warning: unknown environment variable SLUICE_LOG_LEVL; did you mean SLUICE_LOG_LEVEL?\n');
  expect(load(stdout)).toMatchObject({
    fleet: 'shop',
    partitions: 8,
    bus: { passwordFile: join(root, 'password') },
    store: { url: ['redis://***@r'] },
  });
  expect(stdout).toContain('partitions: 8 # flag --partitions\n');
  expect(JSON.parse(sluice(['--partitions', '8', '-o', 'json'], environment).stdout)).toEqual(load(stdout));
});

test('exits with status 2 and prints nothing if the configuration is invalid', () => {
  expect(sluice(['--config', file, '--partitions', '0'])).toEqual({
    status: 2,
    stdout: '',
    stderr: 'error: --partitions (partitions) is 0; expected an integer from 1 to 4096\n',
  });
});

test('prints a valid example', () => {
  const example = join(root, 'example.yaml');
  writeFileSync(example, sluice(['--example']).stdout);
  expect(sluice(['--config', example])).toMatchObject({ status: 0, stderr: '' });
});
