import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { decryptRecording, encryptRecording, isEncrypted } from './encrypted-recording.ts';
import { filesIn } from './file-names.ts';
import { RecordingDirectory } from './recording-directory.ts';
import { RecordingReader } from './recording-reader.ts';

const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
let root: string;
let source: string;
let target: string;
let file: string;

/** A recording with a gap, and so with two files. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-encrypted-'));
  [source, target, file] = [join(root, 'source'), join(root, 'target'), join(root, 'incident.age')];
  mkdirSync(target);
  for (const at of [1_000, 5_000]) {
    const recording = new RecordingDirectory(source, { version: '1', limits });
    recording.nameCluster('c', 'prod');
    recording.append([], at);
    recording.close(at + 1_000);
  }
});

afterEach(() => rmSync(root, { recursive: true }));

const encrypt = (...recipients: readonly string[]) => encryptRecording(source, file, { recipients, now: 1_000 });

test('each recipient decrypts the recording', async () => {
  const identities = [await generateIdentity(), await generateIdentity()];
  await encrypt(...(await Promise.all(identities.map(identityToRecipient))));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(isEncrypted(file)).toBe(true);
  expect(readFileSync(file).includes('SQLite format')).toBe(false);
  for (const identity of identities) {
    const directory = mkdtempSync(join(root, 'decrypted-'));
    await decryptRecording(file, directory, [identity]);
    const content = (path: string) => filesIn(path).map((one) => readFileSync(one.path));
    expect(content(directory)).toEqual(content(source));
    const reader = new RecordingReader(directory);
    expect(reader.coverage().gaps).toEqual([{ from: 2_000, to: 5_000 }]);
    reader.close();
  }
});

test('another key decrypts nothing, nor does anyone a damaged file', async () => {
  const identity = await generateIdentity();
  await encrypt(await identityToRecipient(identity));
  await expect(decryptRecording(file, target, [await generateIdentity()])).rejects.toThrow(/no identity matched/);
  const whole = readFileSync(file);
  writeFileSync(file, whole.subarray(0, whole.length - 100));
  await expect(decryptRecording(file, target, [identity])).rejects.toThrow();
});

test('a recipient that is none is named', async () => {
  await expect(encrypt('age1wrong')).rejects.toThrow('age1wrong is not a recipient of age');
  expect(() => statSync(file)).toThrow(/ENOENT/);
});

test('a file is not replaced', async () => {
  writeFileSync(file, 'mine');
  await expect(encrypt(await identityToRecipient(await generateIdentity()))).rejects.toThrow(/EEXIST/);
  expect(readFileSync(file, 'utf8')).toBe('mine');
  expect(isEncrypted(file)).toBe(false);
});
