import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { certificateFingerprints } from './certificate-fingerprints.ts';

const pem = (name: string) => readFile(path.join(import.meta.dirname, 'testdata', name), 'utf8');

test('a bundle has one fingerprint per certificate, sorted, whatever the order and however often each occurs', async () => {
  const [ca, client] = [await pem('ca.crt'), await pem('client.crt')];
  const expected = [ca, client].map((text) => new X509Certificate(text).fingerprint256).sort();
  expect(certificateFingerprints(ca + client)).toEqual(expected);
  expect(certificateFingerprints(Buffer.from(`${client}\n# comment\n${ca}${client}`))).toEqual(expected);
});

test('a bundle without a certificate has none', async () => {
  expect(certificateFingerprints('')).toEqual([]);
  expect(certificateFingerprints(await pem('client.key'))).toEqual([]);
});
