import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ArchiveEntry, extractFiles, tar, tarFiles } from './index.ts';

let source: string;
let target: string;

beforeEach(() => {
  const root = mkdtempSync(join(tmpdir(), 'sluice-extract-'));
  [source, target] = [join(root, 'source'), join(root, 'target')];
  for (const directory of [source, target]) mkdirSync(directory);
});

afterEach(() => rmSync(join(source, '..'), { recursive: true }));

const any = () => true;
const names = ['empty', 'small', 'block', 'large'];

/** In parts that end anywhere. */
async function* inParts(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function archiveOf(...contents: readonly Buffer[]): Promise<Buffer> {
  for (const [i, content] of contents.entries()) writeFileSync(join(source, names[i] ?? ''), content);
  const parts: Uint8Array[] = [];
  for await (const part of tarFiles(
    names.slice(0, contents.length).map((name) => join(source, name)),
    1,
  ))
    parts.push(part);
  return Buffer.concat(parts);
}

test.each([1, 511, 512, 100_000])('extracts the same files, in parts of %i bytes', async (size) => {
  const contents = [Buffer.of(), Buffer.from('x'), Buffer.alloc(512, 1), Buffer.alloc(5_001, 2)];
  await extractFiles(inParts(await archiveOf(...contents), size), target, any);
  expect(readdirSync(target).sort()).toEqual([...names].sort());
  for (const [i, name] of names.entries()) expect(readFileSync(join(target, name))).toEqual(contents[i]);
  expect(statSync(join(target, 'small')).mode & 0o777).toBe(0o600);
});

test('tar reads the archive', async () => {
  const input = await archiveOf(Buffer.of(), Buffer.from('x'));
  execFileSync('tar', ['-xf', '-', '-C', target], { input });
  expect(readFileSync(join(target, 'small'), 'utf8')).toBe('x');
});

test.each<[string, ArchiveEntry]>([
  ['a path outside', { path: '../evil', content: Buffer.of() }],
  ['a link', { path: 'good', link: '/etc' }],
  ['another name', { path: 'evil', content: Buffer.of() }],
])('%s is rejected', async (_, entry) => {
  const archive = inParts(tar([entry], 1), 512);
  await expect(extractFiles(archive, target, (name) => name === 'good')).rejects.toThrow('unexpected entry');
  expect(readdirSync(target)).toEqual([]);
});

test('an archive that ends early is rejected', async () => {
  const whole = await archiveOf(Buffer.alloc(2_000, 1));
  await expect(extractFiles(inParts(whole.subarray(0, 1_500), 512), target, any)).rejects.toThrow('ends early');
});
