import { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { builtins } from './builtins.ts';

export interface BundleOptions {
  /** The file with which the program begins. */
  readonly entry: string;
  /** Where the bundle goes: `main.js`, which begins it, and the chunks that it loads when they are needed. */
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
  const program = await rolldown({
    input: entry,
    platform: 'node',
    plugins: [whereTheSourceIs(directory), builtins()],
    // Of what is in other people's packages; what is wrong with ours is found by others.
    logLevel: 'silent',
  });
  const { output } = await program.generate({ format: 'esm', entryFileNames: bundleEntry });
  await program.close();
  const chunks = output.filter((file): file is OutputChunk => file.type === 'chunk');
  // Last the one with which it begins: until then the one before holds.
  for (const { fileName, code } of chunks.toSorted((a, b) => Number(a.isEntry) - Number(b.isEntry))) {
    const part = join(directory, `${fileName}.${process.pid}`);
    writeFileSync(part, code);
    if (fileName === bundleEntry) utimesSync(part, begunAt, begunAt);
    renameSync(part, join(directory, fileName));
  }
  removeOld(directory, new Set(chunks.map(({ fileName }) => fileName)));
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
    if (!current.has(name) && Date.now() - statSync(file).mtimeMs > keepMs) rmSync(file);
  }
}
