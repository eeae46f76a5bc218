import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ArchiveEntry } from '@sluice/platform/archive';
import { bundle, workerSources } from '../bundle/bundle.ts';

/** Flags of Node with which Sluice runs, as in infra/bundle/start. */
export const nodeFlags = ['--disable-warning=ExperimentalWarning'] as const;

/** The entry point among the program's files. */
export const mainFile = 'lib/program/main.js';

/** Files that the program reads at run time, beside the places of their sources. */
const assets = ['services/console/page/**/*.{ts,html,css,svg}', 'libs/store/src/redis/lua/*.lua'];

/** Files of packages that the console serves to its page. */
const pagePackages: Readonly<Record<string, readonly string[]>> = {
  preact: ['package.json', 'dist/preact.mjs', 'hooks/dist/hooks.mjs'],
  htm: ['package.json', 'dist/htm.js', 'dist/htm.module.js'],
};

export interface Program {
  /** The program and what it reads; needs only Node. */
  readonly files: readonly ArchiveEntry[];
  /** Completion scripts below `share`. */
  readonly completions: readonly ArchiveEntry[];
}

/** Bundles the program of this checkout. */
export async function buildProgram(root: string): Promise<Program> {
  mkdirSync(join(root, '.cache'), { recursive: true });
  // Two levels below the root, as in the release: the program finds its files by paths relative to itself.
  const directory = mkdtempSync(join(root, '.cache', 'release-program-'));
  try {
    await bundle({
      entry: join(root, 'services/sluice/src/main.ts'),
      workers: workerSources.map((path) => join(root, path)),
      directory,
    });
    const program = readdirSync(directory)
      .sort()
      .map((name) => ({ path: join('lib/program', name), content: readFileSync(join(directory, name)) }));
    const files = [...program, ...assetFiles(root), ...packageFiles(root), license(root)];
    return { files, completions: completionScripts(directory) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function assetFiles(root: string): readonly ArchiveEntry[] {
  return globSync(assets, { cwd: root })
    .filter((path) => !path.endsWith('.test.ts'))
    .sort()
    .map((path) => ({ path, content: readFileSync(join(root, path)) }));
}

function packageFiles(root: string): readonly ArchiveEntry[] {
  const folder = 'services/console/node_modules';
  return Object.entries(pagePackages).flatMap(([name, paths]) =>
    paths.map((path) => ({
      path: `${folder}/${name}/${path}`,
      content: readFileSync(join(realpathSync(join(root, folder, name)), path)),
    })),
  );
}

const license = (root: string): ArchiveEntry => ({ path: 'LICENSE', content: readFileSync(join(root, 'LICENSE')) });

function completionScripts(directory: string): readonly ArchiveEntry[] {
  const main = join(directory, 'main.js');
  const run = (...args: string[]) => execFileSync(process.execPath, [...nodeFlags, main, ...args]);
  const places = {
    bash: 'bash-completion/completions/sluice',
    zsh: 'zsh/site-functions/_sluice',
    fish: 'fish/vendor_completions.d/sluice.fish',
  };
  return Object.entries(places).map(([shell, path]) => ({
    path: `share/${path}`,
    content: run('completion', shell),
  }));
}

/** `node` of the checkout, whose version the release has. */
export function pinnedNodeVersion(root: string): string {
  const require = createRequire(join(root, 'package.json'));
  const manifest = join(dirname(require.resolve('node/package.json')), 'package.json');
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }).version;
}
