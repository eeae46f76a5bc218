import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encryptRecording, RecordingDirectory, RecordingReader } from '@sluice/recording';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withDecrypted } from './open-encrypted.ts';

let identity: string;
let root: string;
let source: string;
let file: string;
let key: string;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-open-encrypted-'));
  [source, file, key] = [join(root, 'source'), join(root, 'incident.age'), join(root, 'key.txt')];
  const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
  const recording = new RecordingDirectory(source, { version: '1', limits });
  recording.nameCluster('c', 'prod');
  recording.append([], 1_000);
  recording.close(2_000);
  identity = await generateIdentity();
  const recipient = await identityToRecipient(identity);
  await encryptRecording(source, file, { recipients: [recipient], now: 1_000 });
  writeFileSync(key, `# created: 2026-11-28T00:00:00Z\n# public key: ${recipient}\n${identity}\n`);
});

afterEach(() => rmSync(root, { recursive: true }));

test('a recording is decrypted only while it is used', async () => {
  const used = await withDecrypted(file, key, async (path) => {
    const reader = new RecordingReader(path);
    expect(reader.clusterNames()).toEqual(new Map([['c', 'prod']]));
    reader.close();
    return path;
  });
  expect(existsSync(used)).toBe(false);
});

test('a recording that is not encrypted is used where it is', async () => {
  expect(await withDecrypted(source, undefined, async (path) => path)).toBe(source);
  expect(await withDecrypted(join(root, 'missing'), undefined, async (path) => path)).toBe(join(root, 'missing'));
  await expect(withDecrypted(source, key, async () => {})).rejects.toThrow(/is not encrypted; remove --identity-file/);
});

test('a missing or wrong key is named, and never quoted', async () => {
  const never = () => expect.unreachable();
  await expect(withDecrypted(file, undefined, never)).rejects.toThrow(/is encrypted; name the file.*--identity-file/);
  await expect(withDecrypted(file, join(root, 'missing'), never)).rejects.toThrow(/--identity-file: ENOENT/);
  writeFileSync(key, `${identity}secret\n`);
  const error = await withDecrypted(file, key, never).catch(String);
  expect(error).toMatch(/has no identity of age; expected lines of AGE-SECRET-KEY-1…/);
  expect(error).not.toContain('secret');
  // Of valid characters, but with a wrong checksum.
  writeFileSync(key, `${identity.slice(0, -1)}${identity.endsWith('Q') ? 'P' : 'Q'}\n`);
  const wrong = await withDecrypted(file, key, never).catch(String);
  expect(wrong).toMatch(/cannot decrypt .*: an identity of age is damaged/);
  expect(wrong).not.toContain(identity.slice(20, 40));
});
