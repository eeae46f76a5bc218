import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checksums, newSigningKey, problemsOf, publicKeyOf, signature } from './checksums.ts';

const files = new Map([
  ['b', Buffer.from('two')],
  ['a/x y', Buffer.from('one')],
]);
const sums = checksums(files);
const key = newSigningKey();
const privateKey = createPrivateKey(key.privateKey);
const signed = signature(sums, privateKey);
const publicKey = createPublicKey(key.publicKey);

test('an intact release has no problems', () => {
  expect(problemsOf(files, { sums, signed, publicKey })).toEqual([]);
  expect(publicKeyOf(privateKey)).toBe(key.publicKey);
});

test.each<[string, Map<string, Buffer>, string]>([
  ['changed', new Map([...files, ['b', Buffer.from('tow')]]), 'b differs from its checksum'],
  ['missing', new Map([...files].slice(1)), 'b is missing'],
  ['added', new Map([...files, ['c', Buffer.of()]]), 'c is not in SHA256SUMS'],
])('a %s file is reported', (_, given, problem) => {
  expect(problemsOf(given, { sums, signed, publicKey })).toEqual([problem]);
});

test('changed checksums, another signature and another key are rejected', () => {
  const forged = new Map([...files, ['b', Buffer.from('tow')]]);
  const other = newSigningKey();
  const wrong = ['SHA256SUMS.sig is not the signature of SHA256SUMS with this key'];
  expect(problemsOf(forged, { sums: checksums(forged), signed, publicKey })).toEqual(wrong);
  const elsewhere = signature(sums, createPrivateKey(other.privateKey));
  expect(problemsOf(files, { sums, signed: elsewhere, publicKey })).toEqual(wrong);
  expect(problemsOf(files, { sums, signed: '', publicKey })).toEqual(wrong);
});

test('sha256sum and openssl accept them', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-checksums-'));
  const write = (name: string, content: string | Buffer) => writeFileSync(join(directory, name), content);
  const named = new Map([['b', Buffer.from('two')]]);
  write('b', 'two');
  write('SHA256SUMS', checksums(named));
  write('sig', Buffer.from(signature(checksums(named), privateKey), 'base64'));
  write('pub', key.publicKey);
  const options = { cwd: directory, encoding: 'utf8' } as const;
  expect(execFileSync('sha256sum', ['--check', 'SHA256SUMS'], options)).toBe('b: OK\n');
  const args = ['pkeyutl', '-verify', '-pubin', '-inkey', 'pub', '-rawin', '-in', 'SHA256SUMS', '-sigfile', 'sig'];
  expect(execFileSync('openssl', args, options)).toContain('Signature Verified Successfully');
  rmSync(directory, { recursive: true, force: true });
});
