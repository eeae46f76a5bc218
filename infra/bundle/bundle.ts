import { mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { type InputOptions, type OutputChunk, type OutputOptions, type Plugin, rolldown } from 'rolldown';
import { clientNodeKubeconfig } from './client-node-kubeconfig.ts';

export interface BundleOptions {
  /** Path of the program's entry point. */
  readonly entry: string;
  /** Paths of the entry points of its worker threads, which it names as `new URL('./FILE.ts', import.meta.url)`. */
  readonly workers?: readonly string[];
  /** Receives `main.js`, a file for each worker, the chunks that it loads on demand, and their cached code. */
  readonly directory: string;
}

/** Entry points of the worker threads of the program, relative to the root. */
export const workerSources = ['libs/fleet/src/roles/lease-thread-worker.ts', 'libs/recording/src/recorder-thread.ts'];

/** Entry point of a bundle. Its mtime is the start of the build: sources changed later may not be in the bundle. */
const bundleEntry = 'main.js';

/** Chunks of earlier bundles are kept for this long, because a running process may still load them. */
const keepMs = 30 * 24 * 3_600_000;

/** Makes Node run the loaders as scripts: it sets up its loader of ES modules only for a program that has some. */
const scriptsPackage = { fileName: 'package.json', code: '{ "type": "commonjs" }\n' };

/**
 * Bundles a program and all its imports into a few files, so that a start reads and compiles these instead of five hundred
 * (ADR 0001). Nothing is minified, so the names in stack traces match the sources.
 */
export async function bundle({ entry, workers = [], directory }: BundleOptions): Promise<void> {
  const startedAt = new Date();
  mkdirSync(directory, { recursive: true });
  // CommonJS, because V8's code cache of an ES module lacks lazily compiled functions. The hash invalidates cached code.
  const program = await chunksOf(
    { input: [entry, ...workers], plugins: [clientNodeKubeconfig(), workerUrls(workers), sourceUrls(directory)] },
    { format: 'cjs', entryFileNames: '[name]-[hash].cjs', chunkFileNames: '[name]-[hash].cjs' },
  );
  const loaderOf = async (source: string, name: string) => {
    const chunk = program.find(({ facadeModuleId }) => facadeModuleId === realpathSync(source))?.fileName;
    return chunksOf(
      { input: join(import.meta.dirname, 'load.ts'), transform: { define: { PROGRAM: JSON.stringify(chunk) } } },
      { format: 'cjs', entryFileNames: name },
    );
  };
  const loaders = [...workers.map((path) => loaderOf(path, workerFile(path))), loaderOf(entry, bundleEntry)];
  // The entry point comes last: until then the previous bundle is in use.
  const files = [scriptsPackage, ...program, ...(await Promise.all(loaders)).flat()];
  for (const { fileName, code } of files) {
    const part = join(directory, `${fileName}.${process.pid}`);
    writeFileSync(part, ascii(code));
    if (fileName === bundleEntry) utimesSync(part, startedAt, startedAt);
    renameSync(part, join(directory, fileName));
  }
  removeOld(directory, new Set(files.map(({ fileName }) => fileName)));
}

async function chunksOf(input: InputOptions, output: OutputOptions): Promise<readonly OutputChunk[]> {
  // The warnings concern dependencies; our own code is checked by tsc and Biome.
  const program = await rolldown({ platform: 'node', logLevel: 'silent', ...input });
  const { output: files } = await program.generate(output);
  await program.close();
  return files.filter((file) => file.type === 'chunk');
}

/**
 * Escapes all other characters, which occur in literals and comments. A single one makes V8 keep two bytes for each
 * character of its chunk, and the loader reads chunks without decoding them.
 */
function ascii(code: string): string {
  return code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function workerFile(path: string): string {
  return basename(path).replace(/\.ts$/, '.js');
}

/** Makes the URLs of workers point at their files in the bundle. */
function workerUrls(workers: readonly string[]): Plugin {
  return {
    name: 'worker-urls',
    transform: {
      filter: { code: 'new Worker(', id: { exclude: /node_modules/ } },
      handler(code) {
        let replaced = code;
        for (const path of workers) {
          const source = `new URL('./${basename(path)}', import.meta.url)`;
          // Split, so that the URL stays relative to the chunk.
          replaced = replaced.replaceAll(source, `new URL('./${workerFile(path)}', import.meta['url'])`);
        }
        return { code: replaced, map: null };
      },
    },
  };
}

/** Keeps `import.meta.url` pointing at the source, beside which lie the console's page and the store's scripts. */
function sourceUrls(directory: string): Plugin {
  return {
    name: 'source-urls',
    transform: {
      filter: { code: 'import.meta.url', id: { exclude: /node_modules/ } },
      handler: (code, id) => {
        const url = `new URL(${JSON.stringify(relative(directory, id))}, import.meta.url).href`;
        return { code: code.replaceAll('import.meta.url', url), map: null };
      },
    },
  };
}

function removeOld(directory: string, current: ReadonlySet<string>): void {
  for (const name of readdirSync(directory)) {
    const file = join(directory, name);
    const chunk = name.replace(/(?<=\.cjs)\..*/, '');
    if (!current.has(chunk) && Date.now() - statSync(file).mtimeMs > keepMs) rmSync(file);
  }
}
