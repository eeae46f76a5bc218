import { globSync } from 'node:fs';
import { join } from 'node:path';
import { play, readLines } from '@sluice/conformance/golden';
import { chance, type ModelCheck, pick, same } from './model-check.ts';

const root = join(import.meta.dirname, '../../../conformance/vectors/settled');

let files: readonly string[] | undefined;
const linesOf = new Map<string, readonly string[]>();

/** What the upstream controllers have done in a recorded scenario is what the pipeline does, except for named deviations. */
export const decisionsCheck: ModelCheck = {
  invariant: 'decisions are those of upstream',
  async run(random) {
    files ??= globSync('*/*.jsonl.gz', { cwd: root }).sort();
    const file = pick(random, files);
    const lines = linesOf.get(file) ?? readLines(join(root, file));
    linesOf.set(file, lines);
    const played = await play(pick(random, lines), chance(random, 0.5) ? 'upstream' : 'shipped');
    const { name, differences, listed } = played;
    same(`whether ${name} differs (${differences.slice(0, 3).join('; ')})`, differences.length > 0, listed);
  },
};
