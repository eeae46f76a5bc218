/**
 * Pins the images of docker-compose.yml and infra/images/Dockerfile by the digests that their registries serve now. Run it
 * before a release, and review and commit the result. Requires docker with buildx, and access to the registries.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram, say } from '@sluice/program';
import { imagesOf, pinned } from './images.ts';

const root = process.argv[2] ?? join(import.meta.dirname, '../..');
const files = ['docker-compose.yml', 'infra/images/Dockerfile'].map((name) => join(root, name));

function digestOf(image: string): string {
  const format = '{{.Manifest.Digest}}';
  const digest = execFileSync('docker', ['buildx', 'imagetools', 'inspect', image, '--format', format], {
    encoding: 'utf8',
  }).trim();
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`docker printed no digest of ${image}: "${digest}"`);
  return digest;
}

await runProgram(() => {
  const texts = files.map((file) => [file, readFileSync(file, 'utf8')] as const);
  const names = new Set(texts.flatMap(([, text]) => imagesOf(text).map(({ name }) => name)));
  // All or none: a registry that does not answer must not leave some images unpinned.
  const digests = new Map([...names].map((name) => [name, digestOf(name)]));
  for (const [file, text] of texts) writeFileSync(file, pinned(text, digests));
  for (const [name, digest] of digests) say(`${name}@${digest}`);
});
