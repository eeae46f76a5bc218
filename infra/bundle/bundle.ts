import { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type InputOptions, type OutputChunk, type OutputOptions, type Plugin, rolldown } from 'rolldown';

export interface BundleOptions {
  /** The file with which the program begins. */
  readonly entry: string;
  /** Where the bundle goes: `main.js`, which begins it, the chunks that it loads when they are needed, and their code. */
  readonly directory: string;
}

/** The file with which a bundle begins. Its time is the one before which everything in the bundle was written. */
export const bundleEntry = 'main.js';

/** Chunks of earlier bundles stay for so long, in milliseconds: who runs one of them may load them still. */
const keepMs = 30 * 24 * 3_600_000;

/**
 * Puts a program and all that it imports into a few files, so that its start reads and compiles these instead of five
 * hundred (ADR 0036). Nothing is renamed or shortened: what a stack trace names can be found in the sources.
 */
export async function bundle({ entry, directory }: BundleOptions): Promise<void> {
  // What is written from here on is not sure to be in it.
  const begunAt = new Date();
  mkdirSync(directory, { recursive: true });
  // Scripts, since of modules V8 keeps no code of what is called. The hash tells code that was kept of another text.
  const program = await chunksOf(
    { input: entry, plugins: [whereTheSourceIs(directory)] },
    { format: 'cjs', entryFileNames: '[name]-[hash].cjs', chunkFileNames: '[name]-[hash].cjs' },
  );
  const begin = program.find(({ isEntry }) => isEntry)?.fileName;
  const loader = await chunksOf(
    { input: join(import.meta.dirname, 'load.ts'), transform: { define: { PROGRAM: JSON.stringify(begin) } } },
    { format: 'esm', entryFileNames: bundleEntry },
  );
  // Last the one with which it begins: until then the one before holds.
  const chunks = [...program, ...loader];
  for (const { fileName, code } of chunks) {
    const part = join(directory, `${fileName}.${process.pid}`);
    writeFileSync(part, code);
    if (fileName === bundleEntry) utimesSync(part, begunAt, begunAt);
    renameSync(part, join(directory, fileName));
  }
  removeOld(directory, new Set(chunks.map(({ fileName }) => fileName)));
}

async function chunksOf(input: InputOptions, output: OutputOptions): Promise<readonly OutputChunk[]> {
  // Silent: of what is in other people's packages; what is wrong with ours is found by others.
  const program = await rolldown({ platform: 'node', logLevel: 'silent', ...input });
  const { output: files } = await program.generate(output);
  await program.close();
  return files.filter((file) => file.type === 'chunk');
}

/** Files that lie beside a source, such as the console's page and the scripts of the store, stay where they are. */
function whereTheSourceIs(directory: string): Plugin {
  return {
    name: 'where-the-source-is',
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
