import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ArchiveEntry, tar, tarGz, under } from './index.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-tar-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const long = `${'folder/'.repeat(18)}${'f'.repeat(90)}`;
const entries: readonly ArchiveEntry[] = [
  { path: 'b/run', content: Buffer.from('#!/bin/sh\n'), executable: true },
  { path: 'a', content: Buffer.alloc(512, 'x') },
  { path: long, content: Buffer.from('deep') },
  { path: 'b/link', link: 'run' },
];

test('tar reads the archive: content, modes, links, time and long paths', () => {
  execFileSync('tar', ['-xzf', '-', '-C', directory], { input: tarGz(entries, 1_700_000_000) });
  expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('x'.repeat(512));
  expect(readFileSync(join(directory, long), 'utf8')).toBe('deep');
  expect(readlinkSync(join(directory, 'b/link'))).toBe('run');
  const { mode, mtimeMs } = statSync(join(directory, 'b/run'));
  expect([mode & 0o777, mtimeMs]).toEqual([0o755, 1_700_000_000_000]);
  expect(statSync(join(directory, 'a')).mode & 0o777).toBe(0o644);
});

test('the order of the entries has no effect', () => {
  expect(tarGz(entries, 1).equals(tarGz(entries.toReversed(), 1))).toBe(true);
  expect(tar(entries, 1).equals(tar(entries, 2))).toBe(false);
});

test('a path that does not fit is rejected, not cut', () => {
  expect(() => tar([{ path: 'f'.repeat(101), content: Buffer.of() }], 1)).toThrow('too long');
});

test('under puts entries into a folder', () => {
  expect(under('x', [{ path: 'a', link: 'b' }])).toEqual([{ path: 'x/a', link: 'b' }]);
});
