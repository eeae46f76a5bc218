import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { imagesOf } from './images.ts';

const root = join(import.meta.dirname, '../..');
const files = ['docker-compose.yml', 'infra/images/Dockerfile'] as const;
const imagesIn = (directory: string) => files.flatMap((file) => imagesOf(readFileSync(join(directory, file), 'utf8')));

test('names all images of registries, and none that is built here', () => {
  const names = imagesIn(root).map(({ name }) => name);
  for (const part of ['node:24-slim', 'docker/dockerfile:', '/kubectl:', 'alpine:', '/etcd:', 'nats:', 'redis:']) {
    expect(names).toContainEqual(expect.stringContaining(part));
  }
  expect(names).not.toContainEqual(expect.stringContaining('local'));
  // Each line that names an image is understood.
  const lines = files.flatMap((file) => readFileSync(join(root, file), 'utf8').split('\n'));
  const references = lines.filter((line) => /^\s*(image:|FROM) /.test(line) && !/:local$|FROM packages /.test(line));
  expect(names.filter((name) => !name.startsWith('docker/dockerfile'))).toHaveLength(references.length);
});

test('once one image is pinned by digest, all are', () => {
  const unpinned = imagesIn(root).filter(({ digest }) => digest === undefined);
  const isPinned = imagesIn(root).some(({ digest }) => digest !== undefined);
  expect(isPinned ? unpinned : []).toEqual([]);
});

describe('pin-digests.ts', () => {
  let copy: string;
  const digest = (character: string) => `sha256:${character.repeat(64)}`;

  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), 'sluice-images-'));
    for (const file of files) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      writeFileSync(join(copy, file), readFileSync(join(root, file)));
    }
  });

  afterEach(() => rmSync(copy, { recursive: true, force: true }));

  /** Runs the program with a docker that prints this for each image. */
  function pin(printed: string): void {
    const bin = join(copy, 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'docker'), `#!/bin/sh\n${printed}\n`);
    chmodSync(join(bin, 'docker'), 0o755);
    execFileSync(process.execPath, [join(import.meta.dirname, 'pin-digests.ts'), copy], {
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
      stdio: 'pipe',
    });
  }

  test('pins every image and changes nothing else, also if it is pinned already', () => {
    for (const character of ['a', 'b']) {
      pin(`echo ${digest(character)}`);
      const images = imagesIn(copy);
      expect(images.length).toBeGreaterThan(10);
      expect(images.map((image) => image.digest)).toEqual(images.map(() => digest(character)));
    }
    for (const file of files) {
      const unpinned = readFileSync(join(copy, file), 'utf8').replaceAll(`@${digest('b')}`, '');
      expect(unpinned).toBe(readFileSync(join(root, file), 'utf8').replaceAll(/@sha256:[0-9a-f]{64}/g, ''));
    }
  });

  test.each([
    ['prints no digest', 'echo latest'],
    ['does not answer for one image', `case $4 in nats*) exit 1;; *) echo ${digest('a')};; esac`],
  ])('changes nothing if docker %s', (_, script) => {
    expect(() => pin(script)).toThrow();
    for (const file of files) expect(readFileSync(join(copy, file))).toEqual(readFileSync(join(root, file)));
  });
});
