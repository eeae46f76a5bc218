import { execFile, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
const sluice = (...args: string[]) => promisify(execFile)(process.execPath, [main, ...args]);

test('--metrics-bind-address 0 disables metrics', async () => {
  const { stdout } = await sluice('run', '--metrics-bind-address', '0', '--for', '1s', '--output', 'json');
  const [started = ''] = stdout.split('\n');
  expect(JSON.parse(started)).toMatchObject({ event: 'started' });
  expect(started).not.toContain('Metrics');
}, 60_000);

test('a closed OTLP port costs one warning with the number of dropped spans, and exit status 0', async () => {
  const closed = ['--otlp-endpoint', 'http://127.0.0.1:9', '--trace-ratio', '1', '--output', 'none'];
  const { stderr } = await sluice('run', '--metrics-bind-address', '0', '--for', '3s', ...closed);
  const warnings = stderr.split('\n').filter((line) => line.startsWith('warn') || line.startsWith('error'));
  expect(warnings).toEqual([expect.stringMatching(/spans were not exported.* dropped=[1-9]/)]);
}, 60_000);

test('a reader that closes the pipe ends a command quietly', () => {
  const head = (command: string) =>
    spawnSync('bash', ['-o', 'pipefail', '-c', `${process.execPath} ${main} ${command} | head -1`], {
      encoding: 'utf8',
    });
  const { stdout, stderr } = head('config --example');
  expect(stdout.split('\n')).toHaveLength(2);
  expect(stderr).toBe('');
  expect(head('run --metrics-bind-address 0 --for 20s --output json --log-level warn')).toMatchObject({
    stdout: expect.stringContaining('started'),
    stderr: '',
    status: 0,
  });
}, 60_000);

/** Command lines of all child processes. */
function children(of: number | undefined): readonly string[][] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const parent = /^PPid:\s(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      return Number(parent) === of ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')] : [];
    } catch {
      // Not a process, or it has exited.
      return [];
    }
  });
}

test.runIf(process.platform === 'linux')(
  'roles of --distributed are started as the process is that starts them, with the same options of Node',
  async () => {
    const node = ['--max-semi-space-size=8', '--stack-trace-limit=17', main];
    const run = spawn(process.execPath, [...node, 'run', '--distributed', '--output', 'none'], { stdio: 'ignore' });
    const ended = new Promise((resolve) => run.once('exit', resolve));
    try {
      const roles = () => children(run.pid).map(([, ...args]) => args.slice(0, node.length + 1));
      const all = ['watcher', 'reconciler', 'writer', 'console'].map((role) => [...node, role]);
      await expect.poll(roles, { timeout: 60_000, interval: 200 }).toEqual(expect.arrayContaining(all));
    } finally {
      run.kill();
      await ended;
    }
  },
  120_000,
);
