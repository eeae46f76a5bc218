import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
const sluice = (...args: string[]) => promisify(execFile)(process.execPath, [main, ...args]);

test('--metrics-bind-address 0 serves no metrics, and the run goes on without', async () => {
  const { stdout } = await sluice('run', '--metrics-bind-address', '0', '--for', '1s', '--output', 'json');
  const [started = ''] = stdout.split('\n');
  expect(JSON.parse(started)).toMatchObject({ event: 'started' });
  expect(started).not.toContain('Metrics');
}, 60_000);
