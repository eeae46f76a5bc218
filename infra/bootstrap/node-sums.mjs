/**
 * Checks that a Node is the pinned one. The lock file does not cover it, because a script of the package `node` downloads it.
 *
 *   node-sums.mjs PLATFORM VERSION FILE   prints what is wrong, and ends with status 1, unless the file is the pinned Node
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The version of the package `node`. A new version needs new sums. */
const pinnedVersion = '24.21.0';

/** SHA-256 of the file bin/node in the package node-PLATFORM of that version. */
const sums = {
  'linux-arm64': '0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584',
  'linux-x64': '7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c',
};

/** Why the file is not the pinned Node; undefined if it is. */
export function nodeProblem(platform, version, file) {
  if (version !== pinnedVersion) return `infra/bootstrap/node-sums.mjs pins Node ${pinnedVersion}, not ${version}`;
  const pinned = sums[platform];
  if (pinned === undefined) return `infra/bootstrap/node-sums.mjs pins no Node for ${platform}`;
  const sum = createHash('sha256').update(readFileSync(file)).digest('hex');
  return sum === pinned ? undefined : `the SHA-256 of ${file} is ${sum} instead of ${pinned}; do not run it`;
}

if (import.meta.main) {
  const [platform, version, file] = process.argv.slice(2);
  const problem = nodeProblem(platform, version, file);
  if (problem !== undefined) {
    process.stderr.write(`${problem}\n`);
    process.exitCode = 1;
  }
}
