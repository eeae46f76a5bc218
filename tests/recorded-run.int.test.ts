import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '@sluice/local';
import { RecordingReader } from '@sluice/recording';
import { expect, onTestFinished, test } from 'vitest';

const program = join(import.meta.dirname, '../bin/sluice');

test('sluice run records what it decides and writes, and answers from the recording', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-recorded-run-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [port = 0] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  const flags = ['--rate', '20', '-o', 'none', '--metrics-bind-address', address, '--recording-dir', directory];
  const run = spawn(program, ['run', ...flags], { stdio: ['ignore', 'inherit', 'inherit'] });
  onTestFinished(() => void run.kill('SIGKILL'));
  const sluice = async (...args: readonly string[]) =>
    (await promisify(execFile)(program, [...args, '--console', `http://${address}`]).catch(() => ({ stdout: '' })))
      .stdout;

  await expect.poll(() => sluice('slow')).toMatch(/(not ready → ready|ready → not ready) +slices/);
  await expect.poll(() => sluice('stuck')).toBe('Slices and Endpoints show every Pod as they should.\n');

  run.kill('SIGTERM');
  expect(await once(run, 'close')).toEqual([0, null]);
  const reader = new RecordingReader(directory);
  onTestFinished(() => reader.close());
  const services = reader.servicesAt(Date.now());
  expect(services.length).toBeGreaterThan(5);
  expect([...reader.clusterNames().values()]).toEqual(['simulated-cluster']);
  const topics = services.flatMap((key) =>
    reader
      .records(key, { since: 0, until: Number.MAX_SAFE_INTEGER, records: 10_000 })
      .records.map(({ topic }) => topic),
  );
  expect(new Set(topics)).toEqual(new Set(['changes', 'mutations']));
});
