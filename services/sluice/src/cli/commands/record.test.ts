import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePorts } from '@sluice/local';
import { type Change, encodeMessage } from '@sluice/messages';
import { aService } from '@sluice/model/testing';
import { silentLogger } from '@sluice/platform';
import { RecordConverter, RecordingDirectory, RecordingReader } from '@sluice/recording';
import { afterEach, beforeEach, expect, test } from 'vitest';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
let directory: string;
let recording: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-record-'));
  recording = join(directory, 'recording');
  const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
  const target = new RecordingDirectory(recording, { version: '1', limits });
  target.nameCluster('c', 'prod');
  const resourceVersions = { endpoints: '1', endpointslices: '1' };
  const message: Change = {
    ...{ kind: 'change', key: { cluster: 'c', namespace: 'shop', service: 'web' }, stamp: { epoch: 1, sequence: 1 } },
    ...{ facts: [{ kind: 'service', service: aService() }], causes: { first: [], more: 0 }, resourceVersions },
    snapshot: { first: true, last: true, initial: true, resourceVersions },
  };
  const record = { key: 'c/shop/web', id: '', headers: {}, payload: encodeMessage(message), message };
  target.append([new RecordConverter(silentLogger).convert('changes', record, 1_000) ?? expect.unreachable()], 1_000);
  target.close(2_000);
});

afterEach(() => rmSync(directory, { recursive: true }));

const run = (target: string, ...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [main, 'record', 'export', recording, target, ...args], {
    env: { PATH: process.env.PATH, HOME: directory },
  });

test('a recording can be redacted', async () => {
  const target = join(directory, 'incident');
  const { stdout } = await run(target, '--redact', '--service', 'web');
  expect(stdout).toBe(`exported 1 records of 1 Services to ${target}\n`);
  const reader = new RecordingReader(target);
  expect(reader.coverage().isRedacted).toBe(true);
  expect(reader.servicesAt(2_000)).toEqual(['00000000-0000-4000-8000-000000000001/namespace-1/service-1']);
  reader.close();
});

const damaged = 'sluice-20260101T000000000Z.sqlite';

test('what cannot be read is not exported, and is named', async () => {
  writeFileSync(join(recording, damaged), 'x'.repeat(5_000));
  const { stdout, stderr } = await run(join(directory, 'incident'));
  expect(stdout).toContain('exported 1 records of 1 Services');
  const reason = `cannot read recording ${join(recording, damaged)}: file is not a database`;
  expect(stderr).toBe(`warning: not exported: ${reason}\n`);
});

test('open says that a recording is redacted, and which file it cannot read', async () => {
  const target = join(directory, 'incident');
  await run(target, '--redact');
  writeFileSync(join(target, damaged), '');
  const [port] = await freePorts(1);
  const opened = spawn(process.execPath, [main, 'open', target, '--metrics-bind-address', `127.0.0.1:${port}`]);
  let [output, log] = ['', ''];
  opened.stdout.on('data', (data) => {
    output += data;
  });
  opened.stderr.on('data', (data) => {
    log += data;
  });
  const closed = once(opened, 'close');
  await expect.poll(() => output).toContain('Console: ');
  opened.kill();
  expect(await closed).toEqual([0, null]);
  expect(output).toMatch(/^Recording: 1 Services of cluster-1, .*\nNames and addresses are redacted\.$/m);
  expect(log).toContain(`${join(target, damaged)} is not a recording of sluice`);
});

test('lines of JSON go to standard output, and what was done to standard error', async () => {
  const { stdout, stderr } = await run('-', '--format', 'jsonl');
  expect(stdout.split('\n').map((line) => line && JSON.parse(line).service)).toEqual(['web', '']);
  expect(stderr).toBe('exported 1 records of 1 Services to -\n');
});

test('a file is new, and only its owner can read it', async () => {
  const target = join(directory, 'logs.jsonl');
  await run(target, '--format', 'otlp');
  expect(JSON.parse(readFileSync(target, 'utf8'))).toHaveProperty('resourceLogs');
  expect(statSync(target).mode & 0o777).toBe(0o600);
  await expect(run(target, '--format', 'otlp')).rejects.toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining(`${target} already exists; choose another file`) },
  });
});

test('Parquet is written to a file', async () => {
  const target = join(directory, 'changes.parquet');
  const { stdout } = await run(target, '--format', 'parquet');
  expect(stdout).toBe(`exported 1 records of 1 Services to ${target}\n`);
  expect(readFileSync(target).subarray(-4).toString()).toBe('PAR1');
  await expect(run(target, '--format', 'parquet')).rejects.toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('choose another file') },
  });
});

test.each(['recording', 'parquet'])('standard output takes no %s', async (format) => {
  const stderr = expect.stringContaining('standard output takes only --format jsonl or otlp');
  await expect(run('-', '--format', format)).rejects.toMatchObject({ code: 2, stderr });
});

test('a recording can be encrypted to one file, other formats cannot', async () => {
  const recipient = 'age1y3g2rxr8ln0lnz4a4zyhsst63e3xwcmujel6h760q39yuxv67cwq596ljk';
  const target = join(directory, 'incident.age');
  await run(target, '--encrypt-to', recipient);
  expect(readFileSync(target).subarray(0, 21).toString()).toBe('age-encryption.org/v1');
  const stderr = expect.stringContaining('--encrypt-to writes a recording to a file');
  await expect(run('-', '--encrypt-to', recipient)).rejects.toMatchObject({ code: 2, stderr });
  await expect(run('x', '--format', 'jsonl', '--encrypt-to', recipient)).rejects.toMatchObject({ code: 2, stderr });
});
