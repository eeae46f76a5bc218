import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A rare branch of production code, named by a comment as its first line: `// Reachable: gap in the log`. */
const comment = /^( *)\/\/ Reachable: (.+)$/gm;

/** Property of the global object with the function that instrumented branches call. */
export const reachedProperty = '__simulationReached';

const root = new URL('../../../', import.meta.url);

/** Names of the branches in a source. */
export const branchesIn = (source: string): readonly string[] =>
  [...source.matchAll(comment)].map(([, , name = '']) => name);

/** The source with calls in place of the comments; lines stay where they are. */
export const instrument = (source: string): string =>
  source.replace(
    comment,
    (_, indent: string, name: string) => `${indent}globalThis.${reachedProperty}?.(${JSON.stringify(name)});`,
  );

/** All branches in production code, sorted by name. */
export function reachableBranches(): readonly string[] {
  const files = globSync(['libs/*/src/**/*.ts', 'services/*/src/**/*.ts'], { cwd: fileURLToPath(root) });
  const names = files
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => branchesIn(readFileSync(new URL(file, root), 'utf8')));
  return names.sort();
}
